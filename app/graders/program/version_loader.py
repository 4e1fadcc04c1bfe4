"""Load a competition version from its directory. Only this module opens answers files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.domain.competition import METRIC_FILE, SAMPLE_FILE, TOML, Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.domain.read_leaderboard import FILE as BOARD_FILE
from app.domain.read_leaderboard import leaderboard_of
from app.errors import BadCompetition
from app.graders.version_folder import VersionFolder
from app.grading.answers import Answers
from app.grading.check import Checker, read_ids
from app.grading.decode_answers import decode_answers
from app.grading.ids.public_ids import PublicIds
from app.grading.scorer import Scorer, scorer_for

_BYTES_OF_A_TEAM = 64  # on a leaderboard: two Python floats, each in a sequence


class MetricMemoryError(BaseException):
    """A metric asked for more memory than a grader may take.

    Not an `Exception`, because the scorer reports every exception as the metric's failure.
    """


@dataclass(frozen=True, slots=True)
class LoadedForm:
    """The public parts of a version, for validation."""

    checker: Checker
    ids: PublicIds


@dataclass(frozen=True, slots=True)
class LoadedCompetition:
    """A version with a metric.py, decoded, without running the metric.py."""

    competition: Competition
    metric_source: str
    answers: Answers
    leaderboard: Leaderboard | None


@dataclass(frozen=True, slots=True)
class LoadedVersion:
    """A version, decoded for grading."""

    competition: Competition
    scorer: Scorer
    ids: PublicIds
    answers: Answers
    leaderboard: Leaderboard | None


def load_form(folder: VersionFolder) -> LoadedForm:
    """Read the competition's declaration and its public ids.

    Raises:
        BadCompetition: one of the two files cannot be used.
    """
    competition = load_competition(folder)
    ids = load_ids(folder.path, competition)
    return LoadedForm(Checker(competition.form, ids), ids)


def load_version(folder: VersionFolder) -> LoadedVersion:
    """Read and decode a version with its private answers. This runs a metric.py.

    Raises:
        BadCompetition: one of the files cannot be used.
    """
    competition = load_competition(folder)
    ids = load_ids(folder.path, competition)
    scorer = load_scorer(folder.path, competition)
    answers = decode_answers(
        read_answers(folder.path, competition), competition, ids, frames=scorer.takes_frames
    )
    return LoadedVersion(
        competition, scorer, ids, answers, load_leaderboard(folder.path, competition)
    )


def form_bytes(loaded: LoadedForm) -> int:
    """The approximate memory of a form, in bytes."""
    return 2 * loaded.ids.nbytes  # the ids and their index


def version_bytes(loaded: LoadedVersion | LoadedCompetition) -> int:
    """The approximate memory of a version, in bytes."""
    board = loaded.leaderboard
    teams = len(board.scores) if board is not None and board.scores is not None else 0
    return loaded.answers.nbytes + teams * _BYTES_OF_A_TEAM


def load_competition(folder: VersionFolder) -> Competition:
    """The competition that `competition.toml` declares.

    Raises:
        BadCompetition: it is invalid; the error lists every problem.
    """
    return parse_competition(folder.slug, _text(folder.path, TOML))


def load_ids(version_dir: Path, competition: Competition) -> PublicIds:
    """The public ids, from the sample submission.

    Raises:
        BadCompetition: it is not there, or its ids cannot be used.
    """
    return read_ids(read_sample(version_dir), competition.form)


def read_sample(version_dir: Path) -> bytes:
    """The bytes of the sample submission.

    Raises:
        BadCompetition: it is not there.
    """
    return _bytes(version_dir, SAMPLE_FILE)


def load_without_metric(folder: VersionFolder) -> LoadedCompetition:
    """Read and decode a version with a metric.py, without running the metric.py.

    Raises:
        BadCompetition: one of the files cannot be used.
    """
    competition = load_competition(folder)
    ids = load_ids(folder.path, competition)
    source = _text(folder.path, METRIC_FILE)
    answers = decode_answers(read_answers(folder.path, competition), competition, ids)
    for part in answers.parts.values():
        part.frame()  # made once here, not in the process of each job
    return LoadedCompetition(
        competition, source, answers, load_leaderboard(folder.path, competition)
    )


def has_own_metric(version_dir: Path) -> bool:
    """Whether the version has a metric.py."""
    return (version_dir / METRIC_FILE).is_file()


def load_scorer(version_dir: Path, competition: Competition) -> Scorer:
    """The metric, built in or from `metric.py`. This runs the code of a metric.py.

    Raises:
        BadCompetition: there is no such metric, or it cannot be loaded.
    """
    own = _text(version_dir, METRIC_FILE) if has_own_metric(version_dir) else None
    return make_scorer(competition, own)


def make_scorer(competition: Competition, metric_source: str | None) -> Scorer:
    """The metric, built in or of this source; a lack of memory raises `MetricMemoryError`.

    Raises:
        BadCompetition: there is no such metric, or it cannot be loaded.
    """
    scorer = scorer_for(competition, metric_source)
    prepare = scorer.prepare
    return replace(
        scorer,
        function=_raising_memory_error(scorer.function),
        prepare=None if prepare is None else _raising_memory_error(prepare),
    )


def load_leaderboard(version_dir: Path, competition: Competition) -> Leaderboard | None:
    """The human board, from `leaderboard.csv` or from the medal lines; None without either.

    Raises:
        BadCompetition: the file has no readable `score` column.
    """
    there = (version_dir / BOARD_FILE).is_file()
    return leaderboard_of(competition, _text(version_dir, BOARD_FILE) if there else None)


def read_answers(version_dir: Path, competition: Competition) -> bytes:
    """The bytes of the answers file.

    Raises:
        BadCompetition: it is not there.
    """
    return _bytes(version_dir, f"private/{competition.answers.file}")


def _raising_memory_error(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except MemoryError:
            raise MetricMemoryError from None

    return call


def _text(version_dir: Path, name: str) -> str:
    try:
        return _bytes(version_dir, name).decode("utf-8")
    except UnicodeDecodeError:
        raise _bad_file(name, "the file is not UTF-8") from None


def _bytes(version_dir: Path, name: str) -> bytes:
    try:
        return (version_dir / name).read_bytes()
    except FileNotFoundError:
        raise _bad_file(name, "the file is missing") from None


def _bad_file(file: str, message: str) -> BadCompetition:
    return BadCompetition([{"file": file, "key": "", "message": message}])
