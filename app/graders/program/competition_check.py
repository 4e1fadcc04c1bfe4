"""Check a competition before its import: it must load, and its answers must score best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.domain.columns import FIRST_INEXACT
from app.domain.competition import METRIC_FILE, SAMPLE_FILE, TOML, Competition
from app.domain.verdict import Rejection, Verdict
from app.errors import BadCompetition, MetricFault
from app.graders.messages.results import CompetitionCheck
from app.graders.program.version_loader import (
    LoadedVersion,
    has_own_metric,
    load_competition,
    load_ids,
    load_leaderboard,
    load_scorer,
    read_answers,
    read_sample,
)
from app.graders.version_folder import VersionFolder
from app.grading.answers import Answers
from app.grading.answers_as_submission import answers_as_submission
from app.grading.check import bad_file, check
from app.grading.decode_answers import answer_form, decode_answers
from app.grading.grade import grade
from app.grading.ids.public_ids import PublicIds
from app.metrics import problems as metric_problems

T = TypeVar("T")

# The rounding error of a perfect score; an arccosine near 1 loses half of the digits.
TOLERANCE = 1e-7


def check_competition(folder: VersionFolder, *, without_metric: bool = False) -> CompetitionCheck:
    """Check the competition in a directory, and list its problems.

    `without_metric` leaves out the checks that need the metric, so it runs no metric.py.

    It checks that the files load, that the sample submission is valid and has the answers' ids,
    that the metric fits the columns, and that the answers as a submission score perfectly (with a
    metric.py: no worse than the sample submission). The text of a problem never quotes an answer.
    """
    problems: list[dict[str, str]] = []

    def attempt(step: Callable[[], T]) -> T | None:
        try:
            return step()
        except BadCompetition as error:
            problems.extend(error.problems)
            return None

    competition = attempt(lambda: load_competition(folder))
    if competition is None:
        return CompetitionCheck(tuple(problems))
    misfits = [] if has_own_metric(folder.path) else metric_problems(competition)
    problems += [{"file": TOML, "key": "metric", "message": message} for message in misfits]
    # A metric that does not fit was reported already; loading it would report it again.
    is_loaded = not misfits and not without_metric
    scorer = attempt(lambda: load_scorer(folder.path, competition)) if is_loaded else None
    board = attempt(lambda: load_leaderboard(folder.path, competition))
    data = attempt(lambda: read_answers(folder.path, competition))
    ids = attempt(lambda: load_ids(folder.path, competition))
    if ids is None:
        return CompetitionCheck(tuple(problems))
    answers = None
    if data is not None:
        answers = attempt(lambda: decode_answers(data, competition, ids))
    problems += [] if answers is None else _inexact_integers(competition, answers)
    verdict = _check_sample(folder.path, competition, ids)
    if not verdict.is_valid:
        problems += bad_file(SAMPLE_FILE, Rejection(verdict.violations)).problems
    found = CompetitionCheck(tuple(problems), rows=ids.rows, sample_verdict=verdict)
    if problems or data is None or answers is None or scorer is None:
        return found
    return _score(found, folder.path, data, LoadedVersion(competition, scorer, ids, answers, board))


def _inexact_integers(competition: Competition, answers: Answers) -> list[dict[str, str]]:
    """A problem for each integer column in which another prediction counts as the answer."""
    message = (
        "has whole numbers of 2**53 or more, and some of them are compared as equal although they "
        'are not: declare classes and ids as kind = "label", amounts as kind = "number"'
    )
    return [
        {"file": TOML, "key": f"submission.columns.{name}.kind", "message": message}
        for name, column in answer_form(competition).columns.items()
        if column.kind == "integer"
        and any(
            (part.frame()[name].abs() >= FIRST_INEXACT).any() for part in answers.parts.values()
        )
    ]


def _check_sample(version_dir: Path, competition: Competition, ids: PublicIds) -> Verdict:
    try:
        checked = check(read_sample(version_dir), competition.form, ids)
    except Rejection as rejection:
        return rejection.verdict
    return Verdict(warnings=checked.warnings)


def _score(
    found: CompetitionCheck, version_dir: Path, answers: bytes, loaded: LoadedVersion
) -> CompetitionCheck:
    """`found` with the scores of the answers and of the sample, and their problems."""
    own = has_own_metric(version_dir)
    competition = loaded.competition
    file, key = (METRIC_FILE, "") if own else (TOML, "metric")

    def score(data: bytes) -> float:
        scorer = loaded.scorer
        if own and scorer.prepare is not None:  # for each file again, as a grading does
            scorer = replace(scorer, prepare=partial(scorer.prepare))
        return grade(data, competition, loaded.answers, None, scorer).score

    try:
        plain = score(read_sample(version_dir))
        if competition.answers.kinds:  # answers of another form cannot be submitted
            return replace(found, sample_score=plain)
        best = score(answers_as_submission(answers, competition))
        found = replace(found, answers_score=best)
        found = replace(found, sample_score=plain)
    except MetricFault as fault:
        message = fault.detail if own else _why_undefined(loaded) or fault.detail
    except Rejection as rejection:
        broken = bad_file(f"private/{competition.answers.file}", rejection)
        return replace(found, problems=tuple(broken.problems))
    except BadCompetition as error:
        return replace(found, problems=tuple(error.problems))
    else:
        message = _why_not_best(competition, best, plain, own=own)
    if message:
        return replace(found, problems=({"file": file, "key": key, "message": message},))
    return found


def _why_undefined(loaded: LoadedVersion) -> str:
    """The message of a built-in metric that is undefined for the answers; empty if it is not."""
    for part in loaded.answers.parts.values():
        try:
            loaded.scorer.function(part.arrays, part.arrays)
        except ValueError as error:
            return f"{loaded.scorer.name} is not defined for these answers: {error}"
    return ""


def _why_not_best(competition: Competition, best: float, plain: float, *, own: bool) -> str:
    """The problem with the scores of the answers and of the sample; empty if there is none."""
    name = competition.metric.name
    up = competition.metric.higher_is_better
    sign, perfect = (1.0, 1.0) if up else (-1.0, 0.0)
    if not own and sign * (best - perfect) < -TOLERANCE:
        return (
            f"the answers, submitted as they are, score {best!r} by {name} and not {perfect!r}: "
            "metric and answers do not belong together"
        )
    if sign * (plain - best) > TOLERANCE:
        return (
            f"by {name} the sample submission is better ({plain!r}) than the answers ({best!r}): "
            "is the metric's direction what its name says?"
        )
    return ""
