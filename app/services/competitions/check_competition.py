"""Check competition folders: whether each can be loaded and, if its data is present, graded."""

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
    """The result of a folder's check. The folder is valid if `problems` is empty."""

    slug: str
    status: CompetitionStatus | None
    rows: int | None
    problems: tuple[dict[str, str], ...]
    lint: tuple[LintFinding, ...]


def folders_in(root: Path, slugs: list[str]) -> list[Path]:
    """The competition folders below `root`: the named ones, or all if none is named.

    Raises:
        NotFound: a named folder does not exist.
    """
    if not slugs:
        return sorted(file.parent for file in root.glob(f"*/{TOML}"))
    for slug in slugs:
        if not (root / slug / TOML).is_file():
            raise NotFound(f"There is no competition folder {root / slug} with a {TOML}.")
    return [root / slug for slug in slugs]


def check_folder(graders: GraderPool, folder: Path) -> FolderCheck:
    """Check one folder as an import would, without importing it."""
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
    """The problems of `suites.toml`: syntax errors, and competitions that have no folder."""
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
