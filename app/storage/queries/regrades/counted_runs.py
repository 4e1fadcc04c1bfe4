"""Runs with their final submissions, by the grades that count, now or at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, case, func, literal, null, select

from app.domain.feedback import Feedback
from app.domain.states import RunState, SubmissionState
from app.storage.database.models import Run, Submission
from app.storage.database.tables.results_elsewhere import ImportedRun, ReportedScore
from app.storage.queries.regrades.in_force import CountedGrades, alias
from app.storage.queries.reviews import decisions

RUN = Run.__table__
SUBMISSION = Submission.__table__
REPORTED = ReportedScore.__table__
IMPORTED_RUN = ImportedRun.__table__
SHOWN_GRADE = ("score", "medal", "above_median", "better", "equal", "worse")
TIMED = ("state", "failure", "started_at", "closed_at")  # columns that change over a run's lifetime


class RunResult(NamedTuple):
    """A run and its final submission: the selected one, else the last valid one.

    `final` is None if there is neither. `sent` is the number of all submissions, `waiting` of those
    that are not settled, `failed` of those whose grading failed. `reported` is the number of scores
    that a harness measured, which are not grades. `imported` says whether the run was imported.
    `version_id` is the version that graded the final submission, or else the run's; `regrade` the
    regrade that did, None for the first grade. `excluded` says whether a review excludes it.
    """

    experiment: str
    competition: str
    seed: int
    run: str
    state: RunState
    feedback: Feedback
    failure: str | None
    version_id: int
    sent: int
    waiting: int
    failed: int
    final: str | None
    final_state: SubmissionState | None
    score: float | None
    medal: str | None
    above_median: bool | None
    better: int | None
    equal: int | None
    worse: int | None
    reported: int
    imported: bool
    created_at: datetime
    started_at: datetime | None
    closed_at: datetime | None
    regrade: str | None
    excluded: bool

    @property
    def shown(self) -> RunResult:
        """The run as lists show it: a run that a review excludes has no numbers."""
        if not self.excluded:
            return self
        return self._replace(
            score=None, medal=None, above_median=None, better=None, equal=None, worse=None
        )


def run_query(
    run_conditions: Sequence[ColumnElement[bool]],
    regrades: Sequence[str],
    as_of: datetime | None,
) -> Select[Any]:
    """A query for the runs under these conditions, with the columns of `RunResult`.

    `regrades` are the ids of the regrades in force. With `as_of` the runs are as they were then;
    for a run that was open, the selected file is the present one, if it existed then.
    """
    each = CountedGrades(SUBMISSION, regrades, as_of=as_of)
    state = each.state
    waits = state.in_([SubmissionState.QUEUED, SubmissionState.GRADING])
    graded = case((state == SubmissionState.GRADED, SUBMISSION.c.id))
    run_conditions = [*run_conditions]
    received: list[ColumnElement[bool]] = []
    measured: list[ColumnElement[bool]] = []
    moment: dict[str, ColumnElement[Any]] = {name: RUN.c[name] for name in TIMED}
    if as_of is not None:
        run_conditions.append(RUN.c.created_at <= as_of)
        received.append(SUBMISSION.c.received_at <= as_of)
        measured.append(REPORTED.c.reported_at <= as_of)
        later = RUN.c.closed_at > as_of
        moment["state"] = case((later, literal(RunState.OPEN, RUN.c.state.type)), else_=RUN.c.state)
        moment["failure"] = case((later, null()), else_=RUN.c.failure)
        moment["started_at"] = case((RUN.c.started_at <= as_of, RUN.c.started_at))
        moment["closed_at"] = case((RUN.c.closed_at <= as_of, RUN.c.closed_at))
    # Ids begin with their time, so the greatest id is the latest.
    sent = (
        select(
            SUBMISSION.c.run_id,
            func.count().label("sent"),
            func.sum(case((waits, 1), else_=0)).label("waiting"),
            func.sum(case((state == SubmissionState.FAILED, 1), else_=0)).label("failed"),
            func.max(graded).label("last"),
        )
        .select_from(each.join_states(SUBMISSION))
        .where(SUBMISSION.c.run_id.in_(select(RUN.c.id).where(*run_conditions)), *received)
        .group_by(SUBMISSION.c.run_id)
        .subquery()
    )
    # One index lookup for each run. Nearly all runs have no reported scores.
    reported = (
        select(func.count())
        .select_from(REPORTED)
        .where(REPORTED.c.run_id == RUN.c.id, *measured)
        .scalar_subquery()
    )
    final = alias(SUBMISSION, "final")
    counted = CountedGrades(final, regrades, as_of=as_of, name="final")
    selected: ColumnElement[Any] = RUN.c.selected_id
    if as_of is not None:
        chosen = alias(SUBMISSION, "chosen")
        then = select(chosen.c.id).where(chosen.c.id == selected, chosen.c.received_at <= as_of)
        selected = then.correlate(RUN).scalar_subquery()
    columns = (
        RUN.c.experiment,
        RUN.c.competition,
        RUN.c.seed,
        RUN.c.id,
        moment["state"],
        RUN.c.feedback,
        moment["failure"],
        func.coalesce(counted.version_id, RUN.c.version_id),
        func.coalesce(sent.c.sent, 0),
        func.coalesce(sent.c.waiting, 0),
        func.coalesce(sent.c.failed, 0),
        final.c.id,
        counted.state,
        *(counted.column(name) for name in SHOWN_GRADE),
        reported,
        IMPORTED_RUN.c.run_id.is_not(None),
        RUN.c.created_at,
        moment["started_at"],
        moment["closed_at"],
        counted.regrade,
        decisions.is_excluded(as_of),
    )
    names = RunResult._fields
    source = (
        RUN.join(IMPORTED_RUN, IMPORTED_RUN.c.run_id == RUN.c.id, isouter=True)
        .join(sent, sent.c.run_id == RUN.c.id, isouter=True)
        .join(final, final.c.id == func.coalesce(selected, sent.c.last), isouter=True)
    )
    return (
        select(*(column.label(name) for column, name in zip(columns, names, strict=True)))
        .select_from(counted.join(source))
        .where(*run_conditions)
    )
