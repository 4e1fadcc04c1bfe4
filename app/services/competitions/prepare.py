"""Prepare a competition from raw files, or from files that another program prepared."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import BadCompetition, Invalid, NotFound
from app.graders.pool import GraderPool
from app.importers.archive import DAMAGE, unpack_files
from app.importers.mle_bench import Sources, assemble
from app.preparation.manifest import Manifest
from app.preparation.raw_names import require_no_way_out
from app.services.competitions.prepared_folder import FOLDER, complete, partial_folder
from app.services.competitions.run_prepare import (
    PREPARE,
    PREPARE_FILES,
    Fetch,
    Watch,
    copy_folder,
    reads_archives,
    run_prepare,
)

MAX_BYTES = 1 << 40  # the user's own data: limited only by the disk
MAX_PREPARED_FILES = 10_000_000
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A folder to import, and the manifest in it."""

    folder: Path
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Raw:
    """Raw files: a folder, or an archive. `fetch` and `watch` as in `run_prepare`.

    `description` is the text of the task, for folders that have none.
    """

    files: Path
    fetch: Fetch | None = None
    watch: Watch | None = None
    description: str = ""


def prepare(
    folder: Path,
    raw: Raw,
    data_dir: Path,
    graders: GraderPool,
    *,
    grading_only: bool = False,
    progress: Progress | None = None,
) -> Prepared:
    """Prepare the competition of `folder`, test the result, and give it its manifest.

    An earlier prepared folder is replaced after everything has succeeded. With `grading_only`, a
    prepare.py that reads `RawFiles` leaves out files that only agents need.

    Raises:
        NotFound: there is no prepare.py.
        Invalid: `grading_only`, and the prepare.py cannot leave anything out.
        Conflict: another process prepares the same.
        BadCompetition: the archive cannot be unpacked, a link leads out of the raw files, or
            prepare.py or the self-test failed.
    """
    require_prepare(folder, grading_only=grading_only)
    require_no_way_out(raw.files, raw.files)
    target = prepared_place(data_dir, folder.name)
    with partial_folder(target) as partial:
        source = described(raw.files)
        if reads_archives(folder):
            made = prepare_as_mle_bench(folder, raw, partial, grading_only)
        else:
            made = _prepare_unpacked(folder, raw, partial)
        manifest = complete(
            made, target, graders, source=source, grading_only=grading_only,
            code=folder / PREPARE, progress=progress,
        )  # fmt: skip
    return Prepared(target, manifest)


def prepare_from(
    folder: Path,
    there: Path,
    data_dir: Path,
    graders: GraderPool,
    *,
    grading_only: bool = False,
    progress: Progress | None = None,
) -> Prepared:
    """Copy the files that MLE-bench or MLE-Dojo prepared in `there`, by hard links if possible.

    Raises:
        NotFound: `there` has neither SLUG/prepared nor SLUG/data.
        Conflict, BadCompetition: as `prepare`.
    """
    slug = folder.name
    layouts = {"mle-bench": there / slug / "prepared", "mle-dojo": there / slug / "data"}
    layout = next((name for name, path in layouts.items() if (path / "private").is_dir()), None)
    if layout is None:
        raise NotFound(
            f"{there} has nothing prepared for {slug}: neither {slug}/prepared/private, as "
            f"MLE-bench makes it, nor {slug}/data/private, as MLE-Dojo does."
        )
    target = prepared_place(data_dir, slug)
    with partial_folder(target) as partial:
        sources = Sources(
            there, public="sample" if grading_only else "all", prepared=layouts[layout].name
        )
        made = assemble(folder, sources, partial).folder
        manifest = complete(
            made, target, graders, source={"kind": layout}, grading_only=grading_only, code=None,
            progress=progress,
        )  # fmt: skip
    return Prepared(target, manifest)


def require_prepare(folder: Path, *, grading_only: bool) -> None:
    """Check that a folder can be prepared at all.

    Raises:
        NotFound, Invalid: as `prepare`.
    """
    if not (folder / PREPARE).is_file():
        raise NotFound(
            f"{folder} has no {PREPARE}, which prepares the raw files. For a competition of "
            f"MLE-bench, `mlebench prepare -c {folder.name}` prepares them and `podium prepare "
            f"{folder.name} --from DIR` takes them: docs/competitions.md."
        )
    if grading_only and not reads_archives(folder):
        raise Invalid(
            f"{folder.name} cannot be prepared for grading only: its {PREPARE} has no function "
            f"{PREPARE_FILES}. Leave out --grading-only."
        )


def prepared_place(data_dir: Path, slug: str) -> Path:
    """Where a competition's prepared folder is."""
    return data_dir.resolve() / FOLDER / slug


def prepare_as_mle_bench(folder: Path, raw: Raw, scratch: Path, grading_only: bool = False) -> Path:
    """Let prepare.py write files as MLE-bench does, and make a folder to import of them.

    Raises:
        BadCompetition: prepare.py failed; gives the last line of its error output.
    """
    made = scratch / "mle-bench" / folder.name / "prepared"
    for part in ("public", "private"):
        (made / part).mkdir(parents=True)
    run_prepare(
        folder, raw.files, made, grading_only=grading_only, fetch=raw.fetch, watch=raw.watch
    )
    if raw.description and not (made / "public" / "description.md").exists():
        (made / "public" / "description.md").write_text(raw.description, encoding="utf-8")
    assembled = assemble(folder, Sources(scratch / "mle-bench"), scratch).folder
    shutil.rmtree(scratch / "mle-bench")  # the folder's files are links to the same bytes
    return assembled


def raw_files(raw: Path, slug: str, *, alone: bool) -> Path:
    """`raw/SLUG` or `raw/SLUG.zip`; or `raw` itself for the only competition (`alone`).

    Raises:
        NotFound: there are no raw files.
    """
    for path in (raw / slug, raw / f"{slug}.zip"):
        if path.exists():
            return path.resolve()
    if alone and any(raw.iterdir()):
        return raw.resolve()
    raise NotFound(f"{raw} has neither a folder {slug} nor {slug}.zip with the raw files.")


def described(raw: Path) -> dict[str, Any]:
    """The description of raw files in a manifest: an archive's length and its members' CRC-32.

    Raises:
        BadCompetition: the archive is damaged.
    """
    if raw.is_dir():
        sizes = [path.stat().st_size for path in raw.rglob("*") if path.is_file()]
        return {"kind": "folder", "files": len(sizes), "bytes": sum(sizes)}
    size = raw.stat().st_size
    if not zipfile.is_zipfile(raw):
        return {"kind": "file", "bytes": size}
    try:
        with zipfile.ZipFile(raw) as archive:
            members = [
                [member.filename, member.file_size, f"{member.CRC:08x}"]
                for member in archive.infolist()
            ]
    except DAMAGE as error:
        raise BadCompetition([{"file": str(raw), "key": "", "message": str(error)}]) from None
    return {"kind": "archive", "bytes": size, "members": members}


def _prepare_unpacked(folder: Path, raw: Raw, partial: Path) -> Path:
    """Prepare by a prepare.py that reads a directory, for which an archive is unpacked."""
    files = raw.files
    if files.is_file():
        files = _unpacked(files, partial / "raw")
    made = partial / folder.name
    copy_folder(folder, made)
    run_prepare(folder, files, made, watch=raw.watch)
    if raw.description and not (made / "description.md").exists():
        (made / "description.md").write_text(raw.description, encoding="utf-8")
    return made


def _unpacked(archive: Path, target: Path) -> Path:
    try:
        unpack_files(archive, target, max_files=MAX_PREPARED_FILES, max_bytes=MAX_BYTES)
    except BadCompetition as error:
        problems = [{**problem, "file": str(archive)} for problem in error.problems]
        raise BadCompetition(problems) from None
    return target
