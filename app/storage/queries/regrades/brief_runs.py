"""Brief results of very many runs, with their final submissions by the grades that count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, Text, case, func, literal_column, select, type_coerce
from sqlalchemy.orm import Session

from app.domain.states import OPEN, SubmissionState
from app.storage.database.models import Run, Submission
from app.storage.database.tables.results_elsewhere import ImportedRun, ReportedScore
from app.storage.queries.regrades.in_force import CountedGrades, InForce, alias
from app.storage.queries.reviews import decisions

RUN = Run.__table__
SUBMISSION = Submission.__table__
IMPORTED_RUN = ImportedRun.__table__
REPORTED = ReportedScore.__table__


class BriefResult(NamedTuple):
    """A run and its final submission, as in `RunResult`, without what medal rates do not need.

    `version_id` is the version that graded the final submission, or else the run's. `sent`,
    `waiting`, `failed` and `reported` are 0 if the final submission is graded. Texts are not
    converted to enums, because there may be 240,000 rows.
    """

    run: str
    experiment: str
    competition: str
    seed: int
    state: str
    feedback: str
    failure: str | None
    final: str | None
    final_state: str | None
    medal: str | None
    above_median: bool | None
    sent: int
    waiting: int
    failed: int
    reported: int
    imported: bool
    excluded: bool
    version_id: int


# Exactly the index's condition, so that SQLite uses the index of graded submissions.
IS_GRADED = SUBMISSION.c.state == literal_column(f"'{SubmissionState.GRADED.value}'")


def last_graded() -> Any:
    """A run's last graded submission. Ids begin with their time, so the greatest is the latest."""
    return (
        select(SUBMISSION.c.id)
        .where(SUBMISSION.c.run_id == RUN.c.id, IS_GRADED)
        .order_by(SUBMISSION.c.id.desc())
        .limit(1)
        .correlate(RUN)
        .scalar_subquery()
    )


def _last_counted(regrades: Sequence[str]) -> Any:
    """A run's last graded submission, taking regrades into account."""
    if not regrades:
        return last_graded()
    sent = alias(SUBMISSION, "sent")
    counted = CountedGrades(sent, regrades, name="sent")
    return (
        select(sent.c.id)
        .select_from(counted.join_states(sent))
        .where(sent.c.run_id == RUN.c.id, counted.state == SubmissionState.GRADED)
        .order_by(sent.c.id.desc())
        .limit(1)
        .correlate(RUN)
        .scalar_subquery()
    )


def brief_results(
    session: Session, conditions: Sequence[Any], in_force: Sequence[InForce]
) -> Iterator[BriefResult]:
    """The runs under these conditions, by the first grades and the regrades in force."""
    query = brief_query(conditions, [one.id for one in in_force])
    yield from map(BriefResult._make, session.execute(query).all())


def brief_query(
    conditions: Sequence[Any], regrades: Sequence[str], more: Sequence[str] = ()
) -> Select[Any]:
    """A query for these runs, with the columns of `BriefResult`.

    `more` are names of other columns of the grade that counts.
    """
    final = alias(SUBMISSION, "final")
    counted = CountedGrades(final, regrades, name="final")
    each = CountedGrades(SUBMISSION, regrades)
    graded = counted.state == SubmissionState.GRADED

    def count(*which: Any) -> Any:
        # Only if it decides, since nearly all runs have a graded submission.
        source = each.join_states(SUBMISSION)
        number = select(func.count()).select_from(source).where(own, *which).correlate(RUN)
        return case((graded, 0), else_=number.scalar_subquery())

    own = SUBMISSION.c.run_id == RUN.c.id
    reported = select(func.count()).select_from(REPORTED).where(REPORTED.c.run_id == RUN.c.id)
    source = RUN.join(
        final, final.c.id == func.coalesce(RUN.c.selected_id, _last_counted(regrades)), isouter=True
    ).join(IMPORTED_RUN, IMPORTED_RUN.c.run_id == RUN.c.id, isouter=True)
    columns = (
        RUN.c.id,
        RUN.c.experiment,
        RUN.c.competition,
        RUN.c.seed,
        type_coerce(RUN.c.state, Text),
        type_coerce(RUN.c.feedback, Text),
        RUN.c.failure,
        final.c.id,
        type_coerce(counted.state, Text),
        counted.column("medal"),
        counted.column("above_median"),
        count(),
        count(each.state.in_(OPEN)),
        count(each.state == SubmissionState.FAILED),
        case((graded, 0), else_=reported.correlate(RUN).scalar_subquery()),
        IMPORTED_RUN.c.run_id.is_not(None),
        decisions.is_excluded(),
        func.coalesce(counted.version_id, RUN.c.version_id),
    )
    found = select(*(c.label(name) for c, name in zip(columns, BriefResult._fields, strict=True)))
    found = found.add_columns(*(counted.column(name).label(name) for name in more))
    return found.select_from(counted.join(source)).where(*conditions)
