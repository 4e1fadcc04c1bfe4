"""The results of very many runs in brief.

The results of closed runs without a queued submission do not change; `result_state` says whether
there are new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Text, and_, case, cast, func, or_, select, type_coerce
from sqlalchemy.orm import Session

from app.domain.feedback import Feedback
from app.domain.states import Failure, RunState
from app.statistics.attempt_columns import (
    ABOVE_MEDIAN,
    KINDS,
    MADE,
    MEDALS,
    ONE_MEDAL,
    VALID,
    Attempts,
)
from app.storage.database.models import CompetitionVersion, Grade, Run
from app.storage.database.tables.results_elsewhere import ImportedRun
from app.storage.queries import archive
from app.storage.queries.regrades.brief_runs import BriefResult, brief_results, last_graded
from app.storage.queries.result_state import ResultState
from app.storage.queries.reviews import decisions

RUN = Run.__table__
VERSION = CompetitionVersion.__table__
GRADE = Grade.__table__
IMPORTED_RUN = ImportedRun.__table__
NOT_GRADED = -1
RUNS_AT_ONCE = 500


class GradedRuns(NamedTuple):
    """An experiment's runs whose final submission is graded, without imported ones.

    It also has the numbers of runs by policy and by failure; a run without a failure counts as
    `none`. `versions` graded them.
    """

    experiment: str
    attempts: Attempts
    policies: dict[str, int]
    failures: dict[str, int]
    versions: set[int]


def settled_results(
    session: Session, experiments: Sequence[str] | None, state: ResultState, *, archived: bool
) -> Iterator[GradedRuns | BriefResult]:
    """The runs of these experiments (None: of all) whose results cannot change.

    Archived runs and runs at archived competitions are left out unless `archived`. Runs of an
    archived experiment are not left out.
    """
    # If a regrade decides, the last valid submission may be another one: `brief_runs` finds it. It
    # is not known what the agent of an imported run was shown, so its policy is not counted.
    imported = select(IMPORTED_RUN.c.run_id).where(IMPORTED_RUN.c.run_id == RUN.c.id)
    conditions: list[Any] = [GRADE.c.id.is_not(None), ~imported.exists()]
    if state.regrades:
        conditions.append(RUN.c.competition.not_in([one.competition for one in state.regrades]))
    if state.excluded:
        conditions.append(~decisions.is_excluded())
    graded = and_(*conditions)
    # One row for each experiment, with numbers for all its runs in the same order: to transfer
    # 120,000 rows would take longer than to find the runs.
    query = (
        select(
            RUN.c.experiment,
            _joined(RUN.c.version_id),
            _joined(RUN.c.seed),
            _joined(case((graded, _code()), else_=NOT_GRADED)),
            func.aggregate_strings(case((graded, None), else_=RUN.c.id), ","),
        )
        .select_from(RUN)
        .join(
            GRADE,
            and_(
                GRADE.c.submission_id == func.coalesce(RUN.c.selected_id, last_graded()),
                GRADE.c.version_id == RUN.c.version_id,
            ),
            isouter=True,
        )
        .where(
            *_shown(experiments, archived=archived),
            RUN.c.state == RunState.CLOSED,
            *([RUN.c.id.not_in(state.waiting)] if state.waiting else []),
        )
        .group_by(RUN.c.experiment)
    )
    versions_of = session.execute(select(VERSION.c.id, VERSION.c.slug))
    slugs = {row.id: row.slug for row in versions_of}
    others: list[str] = []
    for experiment, versions, seeds, codes, ids in session.execute(query):
        others += ids.split(",") if ids else []
        yield _graded(experiment, _numbers(versions), _numbers(seeds), _numbers(codes), slugs)
    for start in range(0, len(others), RUNS_AT_ONCE):
        some = [RUN.c.id.in_(others[start : start + RUNS_AT_ONCE])]
        yield from brief_results(session, some, state.regrades)


def _joined(number: Any) -> Any:
    return func.aggregate_strings(cast(number, Text), ",")


def _numbers(text: str) -> NDArray[np.int64]:
    return np.fromstring(text, dtype=np.int64, sep=",")


def _code() -> Any:
    """A number for the outcome of a graded run, its policy and its failure."""
    outcome = (
        MADE
        + VALID
        + case((GRADE.c.above_median.is_(True), ABOVE_MEDIAN), else_=0)
        + case({name: ONE_MEDAL * at for at, name in enumerate(MEDALS) if name},
               value=GRADE.c.medal, else_=0)
    )  # fmt: skip
    policy = case(
        {each.value: KINDS * at for at, each in enumerate(Feedback)},
        value=type_coerce(RUN.c.feedback, Text), else_=0,
    )  # fmt: skip
    failure = case(
        {each.value: KINDS * len(Feedback) * at for at, each in enumerate(Failure)},
        value=RUN.c.failure, else_=0,
    )  # fmt: skip
    return outcome + policy + failure


def _graded(
    experiment: str,
    versions: NDArray[np.int64],
    seeds: NDArray[np.int64],
    codes: NDArray[np.int64],
    slugs: Mapping[int, str],
) -> GradedRuns:
    """The graded runs of an experiment."""
    if NOT_GRADED in codes:
        kept = codes != NOT_GRADED
        versions, seeds, codes = versions[kept], seeds[kept], codes[kept]
    competitions = [slugs[each] for each in versions.tolist()]
    attempts = Attempts(experiment, competitions, seeds.tolist(), (codes % KINDS).tolist())
    rest = codes // KINDS
    policies = np.bincount(rest % len(Feedback), minlength=len(Feedback)).tolist()
    failures = np.bincount(rest // len(Feedback), minlength=len(Failure)).tolist()
    return GradedRuns(
        experiment,
        attempts,
        {each.value: n for each, n in zip(Feedback, policies, strict=True) if n},
        {each.value: n for each, n in zip(Failure, failures, strict=True) if n},
        set(np.unique(versions).tolist()),
    )


def live_results(
    session: Session, experiments: Sequence[str], state: ResultState, *, archived: bool
) -> Iterator[BriefResult]:
    """The remaining runs of these experiments: open ones, and closed ones that are being graded."""
    live = or_(RUN.c.state == RunState.OPEN, RUN.c.id.in_(state.waiting))
    return brief_results(session, [*_shown(experiments, archived=archived), live], state.regrades)


def _shown(experiments: Sequence[str] | None, *, archived: bool) -> list[Any]:
    conditions: list[Any] = []
    if not archived:
        conditions += archive.is_shown(RUN, experiment_named=True, competition_named=False)
    if experiments is not None:
        conditions.append(RUN.c.experiment.in_(experiments))
    return conditions
