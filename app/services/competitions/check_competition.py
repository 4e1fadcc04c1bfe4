"""Check competition folders: each loads, and grades as it should where its data is present."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.domain.competition import TOML
from app.domain.lint import LintFinding
from app.domain.states import CompetitionStatus
from app.domain.suites import parse_suites
from app.errors import BadCompetition, NotFound
from app.graders.pool import GraderPool
from app.importers.folder import ONE_DISK, stage_folder
from app.services.competitions.import_folder import inspect


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """What is to be said of one folder: nothing in `problems` means it is in order."""

    slug: str
    status: CompetitionStatus | None
    rows: int | None
    problems: tuple[dict[str, str], ...]
    lint: tuple[LintFinding, ...]


def folders_in(root: Path, slugs: list[str]) -> list[Path]:
    """The competition folders below `root`, all of them or the named ones.

    Raises:
        NotFound: a named one is not there.
    """
    if not slugs:
        return sorted(file.parent for file in root.glob(f"*/{TOML}"))
    for slug in slugs:
        if not (root / slug / TOML).is_file():
            raise NotFound(f"There is no competition folder {root / slug} with a {TOML}.")
    return [root / slug for slug in slugs]


def check_folder(graders: GraderPool, folder: Path) -> FolderCheck:
    """Try one folder as an import would; nothing is kept."""
    scratch = Path(tempfile.mkdtemp(prefix="podium-check-"))
    try:
        staged = stage_folder(folder, scratch / folder.name / "staged", max_bytes=ONE_DISK)
        rows = inspect(graders, staged)
        return FolderCheck(folder.name, staged.status, rows, (), tuple(staged.lint))
    except BadCompetition as error:
        return FolderCheck(folder.name, None, None, tuple(error.problems), ())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def check_suites(root: Path, known: set[str]) -> tuple[dict[str, str], ...]:
    """Whether `suites.toml` reads well and names only competitions that have a folder."""
    file = root / "suites.toml"
    if not file.is_file():
        return ()
    try:
        suites = parse_suites(file.read_text(encoding="utf-8"))
    except BadCompetition as error:
        return tuple(error.problems)
    return tuple(
        {"file": file.name, "key": name, "message": f"there is no competition folder {slug!r}"}
        for name, slugs in suites.items()
        for slug in slugs
        if slug not in known
    )
