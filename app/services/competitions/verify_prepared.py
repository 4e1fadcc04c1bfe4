"""Compare a prepared folder with its manifest, and the manifest with the inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app import __version__
from app.errors import BadCompetition, NotFound
from app.preparation.manifest import FILE, Differences, differences, libraries, read_manifest
from app.regular_file import file_digest
from app.services.competitions.prepare import described
from app.services.competitions.run_prepare import PREPARE


@dataclass(frozen=True, slots=True)
class VerifiedPreparation:
    """The differences that were found. `damage` lists defects of the manifest or the archive.

    `notes`: inputs that changed since the preparation.
    """

    slug: str
    root: str
    files: int
    differences: Differences
    damage: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing differs from the manifest."""
        return not self.differences and not self.damage


def verify_prepared(
    prepared: Path,
    folder: Path,
    archive: Path | None,
    progress: Callable[[str, int], None] | None = None,
) -> VerifiedPreparation:
    """Read every file of `prepared`, and compare it with its manifest.

    `folder` is the competition's folder, whose prepare.py may have changed since; `archive` the
    source archive, if it is still there.

    Raises:
        NotFound: there is no such folder, or it has no manifest.
    """
    slug = prepared.name
    if not prepared.is_dir():
        raise NotFound(f"There is no folder {prepared}: nothing is prepared there.")
    try:
        manifest = read_manifest(prepared)
    except BadCompetition as error:
        return VerifiedPreparation(slug, "", 0, Differences((), (), {}), (error.detail,), ())
    if manifest is None:
        raise NotFound(
            f"{prepared} has no {FILE}, so nobody knows whether it is complete: prepare it again."
        )
    damage = []
    if archive is not None and manifest.source.get("kind") == "archive":
        try:
            now = described(archive)
        except BadCompetition as error:
            now = {}
            damage.append(error.detail)
        if now and now != manifest.source:
            damage.append(f"{archive} is not the archive of which these files were made")
    made_with = {"podium": __version__, **libraries()}
    if (folder / PREPARE).is_file():
        made_with[PREPARE] = file_digest(folder / PREPARE)[1]
    notes = [
        f"made with {name} {manifest.made_by[name][:12]}, here is {here[:12]}"
        for name, here in made_with.items()
        if name in manifest.made_by and manifest.made_by[name] != here
    ]
    return VerifiedPreparation(
        slug, manifest.root, len(manifest.files), differences(prepared, manifest, progress),
        tuple(damage), tuple(notes),
    )  # fmt: skip
