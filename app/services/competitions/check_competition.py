"""Check competition folders: whether each can be loaded and, if its data is present, graded."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from app.domain.competition import METRIC_FILE, TOML
from app.domain.form import USAGE_COLUMN
from app.domain.lint import LintFinding
from app.domain.states import CompetitionStatus
from app.domain.suites import parse_suites
from app.errors import BadCompetition, GradingFault
from app.graders.messages.results import ABOUT_KILLED, KILLED, CompetitionCheck, GraderFault
from app.graders.pool import GraderPool
from app.graders.version_folder import VersionFolder
from app.grading.reading.records import records
from app.importers.folder import ONE_DISK, Staged, stage_folder
from app.metrics import problems as metric_problems
from app.preparation.manifest import require_as_listed

OUR_FAULTS = frozenset({"crashed", "internal", "not_started"})


@dataclass(frozen=True, slots=True)
class Understood:
    """The facts that Podium read from a competition's folder.

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


def check_folder(graders: GraderPool, folder: Path) -> FolderCheck:
    """Check one folder as an import would, its manifest too, without importing it."""
    scratch = Path(tempfile.mkdtemp(prefix="podium-check-"))
    try:
        require_as_listed(folder)
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


def inspect(graders: GraderPool, staged: Staged) -> CompetitionCheck:
    """Let a grader test the competition. Only its process may read answers and run metric.py.

    The number of rows of a submission is None if the data is missing, or if the competition takes
    no submissions.

    Raises:
        BadCompetition: lists the problems that the grader found.
        GradingFault: the grader itself failed.
    """
    if staged.competition.is_measured:
        return CompetitionCheck(())
    if staged.status is CompetitionStatus.NEEDS_DATA:
        _require_fitting_metric(staged)
        return CompetitionCheck(())
    found: CompetitionCheck | GraderFault = graders.check_competition(
        VersionFolder(staged.slug, staged.directory)
    ).result()
    if isinstance(found, GraderFault):
        if found.kind == "isolation":
            message = (
                "PODIUM_REQUIRE_ISOLATION is set, and this machine would run the file "
                f"{found.place}; /readyz says why"
            )
            raise BadCompetition([{"file": METRIC_FILE, "key": "", "message": message}])
        # If the process in which a metric.py is tried ends, the metric.py is the cause.
        has_metric = (staged.directory / METRIC_FILE).is_file()
        is_ours = found.kind != "crashed" or not has_metric
        meaning = [ABOUT_KILLED] if found == KILLED else []
        if found.kind in OUR_FAULTS and is_ours:
            failure = f"A grader failed while it tested {staged.slug} ({found.kind})."
            raise GradingFault(" ".join([failure, *meaning]))
        message = ". ".join([f"{found.kind}: {found.place}", *meaning])
        file = METRIC_FILE if has_metric else TOML
        raise BadCompetition([{"file": file, "key": "", "message": message}])
    if found.problems:
        raise BadCompetition(list(found.problems))
    return found


def _require_fitting_metric(staged: Staged) -> None:
    """Check the metric without data. A metric.py is not run."""
    if (staged.directory / METRIC_FILE).is_file():
        return
    if messages := metric_problems(staged.competition):
        raise BadCompetition([{"file": TOML, "key": "metric", "message": m} for m in messages])


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
    rows = records(answers.read_text(encoding="utf-8-sig"))
    header = next(rows, None) or []
    if USAGE_COLUMN not in header:
        return {}
    column = header.index(USAGE_COLUMN)
    return dict(Counter(row[column].strip().lower() for row in rows if row is not None))


def check_suites(root: Path, known: set[str]) -> tuple[dict[str, str], ...]:
    """The problems of `suites.toml`: syntax errors, and competitions that have no folder."""
    file = root / "suites.toml"
    if not file.is_file():
        return ()
    try:
        suites = parse_suites(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start})"
        return ({"file": file.name, "key": "", "message": message},)
    except BadCompetition as error:
        return tuple(error.problems)
    return tuple(
        {"file": file.name, "key": name, "message": f"there is no competition folder {slug!r}"}
        for name, slugs in suites.items()
        for slug in slugs
        if slug not in known
    )
