"""Check competition folders: whether each can be loaded and, if its data is present, graded."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from app.domain.competition import TOML
from app.domain.lint import LintFinding
from app.domain.states import CompetitionStatus
from app.domain.suites import parse_suites
from app.errors import BadCompetition, NotFound
from app.graders.pool import GraderPool
from app.importers.folder import ONE_DISK, Staged, stage_folder
from app.services.competitions.import_folder import inspect


@dataclass(frozen=True, slots=True)
class Understood:
    """A competition as Podium understood its folder.

    `usage` is the number of rows of the answers by their `Usage`, empty without that column.
    `lines` are the medal lines and the median of the human leaderboard.
    """

    metric: str
    higher_is_better: bool
    usage: dict[str, int]
    teams: int | None
    lines: dict[str, float | None]
    sample_score: float | None


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """The result of a folder's check. The folder is valid if `problems` is empty.

    `understood` is what Podium read in it: None if it has problems.
    """

    slug: str
    status: CompetitionStatus | None
    rows: int | None
    problems: tuple[dict[str, str], ...]
    lint: tuple[LintFinding, ...]
    understood: Understood | None = None


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
        found = inspect(graders, staged)
        understood = _understood(staged, found.sample_score)
        return FolderCheck(
            folder.name, staged.status, found.rows, (), tuple(staged.lint), understood
        )
    except BadCompetition as error:
        return FolderCheck(folder.name, None, None, tuple(error.problems), ())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _understood(staged: Staged, sample_score: float | None) -> Understood:
    declared, board = staged.competition, staged.leaderboard
    return Understood(
        metric=declared.metric.name,
        higher_is_better=declared.metric.higher_is_better,
        usage=_usage(staged.directory / "private" / declared.answers.file),
        teams=board.teams if board else None,
        lines=asdict(board.lines) if board else {},
        sample_score=sample_score,
    )


def _usage(answers: Path) -> dict[str, int]:
    """The number of rows by Usage. Call only for an admin's own files: it reads the answers."""
    if answers.suffix != ".csv" or not answers.is_file():
        return {}
    with answers.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        if "Usage" not in header:
            return {}
        column = header.index("Usage")
        return dict(Counter(row[column].lower() for row in rows if len(row) > column))


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
