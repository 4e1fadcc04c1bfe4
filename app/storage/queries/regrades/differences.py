"""The changes by a regrade for each submission, from the grades that counted before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database.models import Grade, Run, Submission
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries.regrades.in_force import CountedGrades

SUBMISSION = Submission.__table__
RUN = Run.__table__
GRADE = Grade.__table__
AFTER = RegradeOutcome.__table__
NUMBERS = (
    "score", "public_score", "search_score", "better", "equal", "worse", "teams", "percentile",
    "above_median", "medal",
)  # fmt: skip
PLACES = ("better", "equal", "worse", "teams")
MEDAL_ORDER = {"gold": 3, "silver": 2, "bronze": 1}


class OutcomeDifference(NamedTuple):
    """A submission before and after. Places are None if it is not graded or has none."""

    submission: str
    run: str
    experiment: str
    seed: int
    state_before: SubmissionState
    state_after: SubmissionState
    before: dict[str, Any]
    after: dict[str, Any]
    fault: str | None


@dataclass(frozen=True, slots=True)
class DifferenceCounts:
    """How many submissions of a regrade differ, and in which values; one may differ in several.

    `equal` ones have the same state and every number equal to the last bit.
    """

    submissions: int
    equal: int
    scores: int
    public_scores: int
    places: int
    medals: int
    medals_won: int
    medals_lost: int
    newly_graded: int
    newly_rejected: int
    newly_failed: int


def count_differences(session: Session, regrade_id: str, before: str | None) -> DifferenceCounts:
    """Count differences between a regrade and the one that counted `before`, or first grades.

    Submissions that are still to be graded are not counted.
    """
    counted = _before(before)
    state, was_graded = counted.state, counted.state == SubmissionState.GRADED
    is_graded = AFTER.c.state == SubmissionState.GRADED
    differs = {name: _differs(counted, name) for name in NUMBERS}
    both = and_(was_graded, is_graded)
    rank_before, rank_after = _rank(counted.column("medal")), _rank(AFTER.c.medal)
    same = and_(state == AFTER.c.state, *(~one for one in differs.values()))
    flags = {
        "equal": same,
        "scores": and_(both, differs["score"]),
        "public_scores": and_(both, differs["public_score"]),
        "places": and_(both, or_(*(differs[name] for name in PLACES))),
        "medals": differs["medal"],
        "medals_won": rank_after > rank_before,
        "medals_lost": rank_after < rank_before,
        "newly_graded": and_(is_graded, ~was_graded),
        "newly_rejected": and_(
            AFTER.c.state == SubmissionState.REJECTED, state != SubmissionState.REJECTED
        ),
        "newly_failed": and_(
            AFTER.c.state == SubmissionState.FAILED, state != SubmissionState.FAILED
        ),
    }
    sums = [func.coalesce(func.sum(case((flag, 1), else_=0)), 0) for flag in flags.values()]
    row = session.execute(_query(counted, regrade_id, func.count(), *sums)).one()
    return DifferenceCounts(*(int(value) for value in row))


def differences(
    session: Session, regrade_id: str, before: str | None, *, after: str | None, limit: int
) -> list[OutcomeDifference]:
    """The submissions that differ, in the order of their ids, after the one with this id."""
    counted = _before(before)
    differs = [_differs(counted, name) for name in NUMBERS]
    query = (
        _query(
            counted,
            regrade_id,
            SUBMISSION.c.id,
            RUN.c.id.label("run"),
            RUN.c.experiment,
            RUN.c.seed,
            counted.state,
            AFTER.c.state.label("state_after"),
            *(counted.column(name).label(f"before_{name}") for name in NUMBERS),
            *(AFTER.c[name] for name in NUMBERS),
            AFTER.c.fault,
        )
        .where(or_(counted.state != AFTER.c.state, *differs))
        .order_by(SUBMISSION.c.id)
        .limit(limit)
    )
    if after is not None:
        query = query.where(SUBMISSION.c.id > after)
    found = []
    for row in session.execute(query):
        head, numbers = row[:6], row[6:-1]
        was = dict(zip(NUMBERS, numbers[: len(NUMBERS)], strict=True))
        now = dict(zip(NUMBERS, numbers[len(NUMBERS) :], strict=True))
        found.append(OutcomeDifference._make((*head, was, now, row[-1])))
    return found


def _before(regrade_id: str | None) -> CountedGrades:
    return CountedGrades(SUBMISSION, [] if regrade_id is None else [regrade_id], name="before")


def _query(counted: CountedGrades, regrade_id: str, *columns: ColumnElement[Any]) -> Select[Any]:
    source = AFTER.join(SUBMISSION, SUBMISSION.c.id == AFTER.c.submission_id).join(
        RUN, RUN.c.id == SUBMISSION.c.run_id
    )
    return (
        select(*columns)
        .select_from(counted.join(source))
        .where(AFTER.c.regrade_id == regrade_id, AFTER.c.state != SubmissionState.QUEUED)
    )


def _differs(counted: CountedGrades, name: str) -> ColumnElement[bool]:
    return counted.column(name).is_distinct_from(AFTER.c[name])


def _rank(medal: ColumnElement[Any]) -> ColumnElement[int]:
    return case(*((medal == name, rank) for name, rank in MEDAL_ORDER.items()), else_=0)


def count_other_environments(
    session: Session, regrade_id: str, podium_version: str, environment: str
) -> int:
    """How many first grades of a regrade's submissions another environment made."""
    grader = GRADE.c.grader
    query = (
        select(func.count())
        .select_from(
            AFTER.join(SUBMISSION, SUBMISSION.c.id == AFTER.c.submission_id).join(
                GRADE,
                and_(
                    GRADE.c.submission_id == SUBMISSION.c.id,
                    GRADE.c.version_id == SUBMISSION.c.version_id,
                ),
            )
        )
        .where(
            AFTER.c.regrade_id == regrade_id,
            or_(
                grader["podium_version"].as_string() != podium_version,
                grader["environment"].as_string() != environment,
            ),
        )
    )
    return int(session.execute(query).scalar_one())
