"""An experiment's medals over run time, tokens or dollars, and its selection regret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.medals import Medal
from app.errors import Conflict
from app.services.results.scope import ResultFilter, result_context
from app.services.runtime.context import Context
from app.statistics.attempts import Padding
from app.statistics.medals_over_time import (
    Choice,
    Point,
    Regret,
    RunHistory,
    TimedSubmission,
    medals_over,
    selection_regret,
)
from app.storage.queries import results
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.results import GradedSubmission

HOUR = 3600.0
DEFAULT_POINTS = 24


class Axis(StrEnum):
    """The quantity on the horizontal axis."""

    HOURS = "hours"
    TOKENS = "tokens"
    DOLLARS = "dollars"


@dataclass(frozen=True, slots=True)
class MissingResult:
    """A (competition, seed) without a result, and why."""

    competition: str
    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class Curves:
    """The medal rate under each choice at each point.

    `left_out` counted runs reported no such usage. `missing` has no result or, as imported
    results, no times; `padding` says how each of them counts.
    """

    axis: Axis
    padding: Padding
    runs: int
    left_out: int
    missing: list[MissingResult]
    points: dict[Choice, list[Point]]
    regret: dict[Choice, Regret]


def curves(
    context: Context,
    name: str,
    filters: ResultFilter,
    axis: Axis,
    moments: tuple[float, ...],
) -> Curves:
    """Medals against hours, tokens or dollars, for each way to choose the final submission.

    The runs are those that count in medal rates with the same filter. With padding=fail a missing
    run counts as one without a medal at any time. Tokens and dollars are reported only for complete
    runs, so tokens and dollars are assumed to be used evenly over the run. Without `moments`, 24
    points are spread evenly up to the last submission.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding does not allow it.
        Conflict: no run can be shown.
        LeaderboardsMissing: a competition has no medals to win.
    """
    counted, _ = result_context(context, name, filters, with_imports=False)
    with context.database.read() as session:
        runs = list(
            results.run_results(
                session, experiments=[name], archived=filters.archived, basis=filters.basis
            )
        )
        sent = results.graded_submissions(session, name, basis=filters.basis)
        usages = results.usages(session, name)
    found = {(run.competition, run.seed): run for run in runs}
    by_run: dict[str, list[GradedSubmission]] = {}
    for one in sent:
        by_run.setdefault(one.run, []).append(one)
    failed = set(counted.excluded)
    missing = {(slug, seed) for slug, seed, _ in counted.missing}
    histories, left_out = [], 0
    for slug, seed in counted.grid.counted_keys:
        run = found.get((slug, seed))
        if run is None or (slug, seed) in missing or slug in failed:
            histories.append(RunHistory(slug, seed, True, ()))
            continue
        scale = _scale(usages[run.run], axis)
        if scale is None:
            left_out += 1
        else:
            histories.append(_run_history(context, run, by_run.get(run.run, []), scale))
    if not histories or (left_out and not any(each.sent for each in histories)):
        raise Conflict(f"No run of {name!r} here can be shown against {axis.value}.")
    last = max((each.at for history in histories for each in history.sent), default=1.0)
    at = moments or tuple(last * step / DEFAULT_POINTS for step in range(1, DEFAULT_POINTS + 1))
    return Curves(
        axis=axis,
        padding=filters.padding,
        runs=len(histories),
        left_out=left_out,
        missing=[MissingResult(*each) for each in counted.missing],
        points={choice: medals_over(histories, at, choice) for choice in Choice},
        regret={
            choice: selection_regret(histories, choice)
            for choice in Choice
            if choice is not Choice.ORACLE
        },
    )


def _run_history(
    context: Context, run: RunResult, sent: list[GradedSubmission], scale: float
) -> RunHistory:
    entry = context.catalogue.of_version(run.version_id)
    steps = tuple(
        TimedSubmission(
            at=one.run_seconds * scale,
            score=one.score,
            public_score=one.public_score,
            medal=None if one.medal is None else Medal(one.medal),
            selected=one.id == run.final,
        )
        for one in sent
    )
    return RunHistory(run.competition, run.seed, entry.competition.metric.higher_is_better, steps)


def _scale(usage: Mapping[str, Any], axis: Axis) -> float | None:
    """The usage per second of the run, in units of the axis; None if it is not known."""
    if axis is Axis.HOURS:
        return 1 / HOUR
    seconds = usage.get("seconds")
    if axis is Axis.DOLLARS:
        amount = usage.get("cost_usd")
    else:
        tokens = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
        known = [count for count in tokens if count is not None]
        amount = sum(known) if known else None
    return amount / seconds if seconds and amount is not None else None
