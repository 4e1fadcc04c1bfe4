"""A competition version, read from its directory: the one place where answers files are opened.

A version's directory is `<data>/competitions/<slug>/<hash>/`, so its parent's name is the slug.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.domain.competition import TOML, Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.domain.read_leaderboard import FILE as BOARD_FILE
from app.domain.read_leaderboard import leaderboard_of
from app.errors import BadCompetition
from app.grading.answers import Answers, decode_answers
from app.grading.check import SAMPLE_FILE, Checker, read_ids
from app.grading.custom_metric import METRIC_FILE
from app.grading.ids.public_ids import PublicIds
from app.grading.scorer import Scorer, scorer_for

_BYTES_OF_A_TEAM = 64  # on a leaderboard: two Python floats, each in a sequence


class MetricMemoryError(BaseException):
    """A metric asked for more memory than a grader may take.

    Not an `Exception`: what scores takes every exception for the metric's own failure.
    """


@dataclass(frozen=True, slots=True)
class LoadedForm:
    """What validating needs, and nothing that is private."""

    checker: Checker
    ids: PublicIds


@dataclass(frozen=True, slots=True)
class LoadedCompetition:
    """All that grading by a metric.py needs but that metric: nothing of its code was run."""

    competition: Competition
    metric_source: str
    answers: Answers
    leaderboard: Leaderboard | None


@dataclass(frozen=True, slots=True)
class LoadedVersion:
    """All that grading needs, decoded."""

    competition: Competition
    scorer: Scorer
    ids: PublicIds
    answers: Answers
    leaderboard: Leaderboard | None


def load_form(version_dir: Path) -> LoadedForm:
    """Read the competition's declaration and its public ids.

    Raises:
        BadCompetition: one of the two files cannot be used.
    """
    competition = load_competition(version_dir)
    ids = load_ids(version_dir, competition)
    return LoadedForm(Checker(competition.form, ids), ids)


def load_version(version_dir: Path) -> LoadedVersion:
    """Read and decode everything, the private answers among it. A metric.py is run here.

    Raises:
        BadCompetition: one of the files cannot be used.
    """
    competition = load_competition(version_dir)
    ids = load_ids(version_dir, competition)
    scorer = load_scorer(version_dir, competition)
    answers = decode_answers(
        read_answers(version_dir, competition), competition, ids, frames=scorer.takes_frames
    )
    return LoadedVersion(
        competition, scorer, ids, answers, load_leaderboard(version_dir, competition)
    )


def form_bytes(loaded: LoadedForm) -> int:
    """The memory that a form holds, roughly."""
    return 2 * loaded.ids.nbytes  # the ids, and what finds them


def version_bytes(loaded: LoadedVersion | LoadedCompetition) -> int:
    """The memory that a version holds, roughly."""
    board = loaded.leaderboard
    teams = len(board.scores) if board is not None and board.scores is not None else 0
    return loaded.answers.nbytes + teams * _BYTES_OF_A_TEAM


def load_competition(version_dir: Path) -> Competition:
    """The competition that `competition.toml` declares.

    Raises:
        BadCompetition: with every problem of the file.
    """
    return parse_competition(version_dir.parent.name, _text(version_dir, TOML))


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


def load_without_metric(version_dir: Path) -> LoadedCompetition:
    """Read and decode a version with a metric.py, and run nothing of that.

    Raises:
        BadCompetition: one of the files cannot be used.
    """
    competition = load_competition(version_dir)
    ids = load_ids(version_dir, competition)
    source = _text(version_dir, METRIC_FILE)
    answers = decode_answers(read_answers(version_dir, competition), competition, ids)
    for part in filter(None, (answers.private, answers.public)):
        part.frame()  # made here once, and not in the process of each job
    return LoadedCompetition(
        competition, source, answers, load_leaderboard(version_dir, competition)
    )


def has_own_metric(version_dir: Path) -> bool:
    """Whether the version has a metric.py."""
    return (version_dir / METRIC_FILE).is_file()


def load_scorer(version_dir: Path, competition: Competition) -> Scorer:
    """The metric, built in or from `metric.py`, whose code is run here.

    Raises:
        BadCompetition: there is no such metric, or it cannot be loaded.
    """
    own = _text(version_dir, METRIC_FILE) if has_own_metric(version_dir) else None
    return make_scorer(competition, own)


def make_scorer(competition: Competition, metric_source: str | None) -> Scorer:
    """The metric, built in or of this source, which tells a lack of memory apart.

    Raises:
        BadCompetition: there is no such metric, or it cannot be loaded.
    """
    scorer = scorer_for(competition, metric_source)
    prepare = scorer.prepare
    return replace(
        scorer,
        function=_telling_memory_apart(scorer.function),
        prepare=None if prepare is None else _telling_memory_apart(prepare),
    )


def load_leaderboard(version_dir: Path, competition: Competition) -> Leaderboard | None:
    """The human board, from `leaderboard.csv` or from the lines in the toml; None without either.

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


def _telling_memory_apart(function: Callable[..., Any]) -> Callable[..., Any]:
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
        raise _problem(name, "the file is not UTF-8") from None


def _bytes(version_dir: Path, name: str) -> bytes:
    try:
        return (version_dir / name).read_bytes()
    except FileNotFoundError:
        raise _problem(name, "the file is missing") from None


def _problem(file: str, message: str) -> BadCompetition:
    return BadCompetition([{"file": file, "key": "", "message": message}])
