"""An experiment's medals over run time, tokens or dollars, and its selection regret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.medals import Medal
from app.errors import Conflict
from app.services.experiments import experiments
from app.services.results.attempts import refuse_without_board
from app.services.runtime.context import Context
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
from app.storage.queries.results import GradedSubmission, RunResult

HOUR = 3600.0
DEFAULT_POINTS = 24


class Axis(StrEnum):
    """The quantity on the horizontal axis."""

    HOURS = "hours"
    TOKENS = "tokens"
    DOLLARS = "dollars"


@dataclass(frozen=True, slots=True)
class Curves:
    """The medal rate under each choice at each point. `left_out` runs reported no such usage."""

    axis: Axis
    runs: int
    left_out: int
    points: dict[Choice, list[Point]]
    regret: dict[Choice, Regret]


def curves(
    context: Context, name: str, suite: str | None, axis: Axis, moments: tuple[float, ...]
) -> Curves:
    """Medals against hours, tokens or dollars, for each way to choose the final submission.

    Tokens and dollars are reported only for complete runs, so tokens and dollars are assumed to be
    used evenly over the run. Without `moments`, 24 points are spread evenly up to the last
    submission.

    Raises:
        NotFound: the experiment or the suite does not exist.
        Conflict: no run can be shown.
        LeaderboardsMissing: a competition has no medals to win.
    """
    experiments.find(context, name)
    with context.database.read() as session:
        runs = list(results.run_results(session, experiments=[name]))
        sent = results.graded_submissions(session, name)
        usages = results.usages(session, name)
    if suite:
        wanted = set(context.catalogue.suite(suite))
        runs = [run for run in runs if run.competition in wanted]
    refuse_without_board(
        run.competition
        for run in runs
        if context.catalogue.of_version(run.version_id).leaderboard is None
    )
    by_run: dict[str, list[GradedSubmission]] = {}
    for one in sent:
        by_run.setdefault(one.run, []).append(one)
    histories = []
    for run in runs:
        own = by_run.get(run.run, [])
        scale = _scale(usages[run.run], axis)
        if scale is not None:
            histories.append(_run_history(context, run, own, scale))
    if not histories:
        raise Conflict(f"No run of {name!r} here can be shown against {axis.value}.")
    last = max((each.at for history in histories for each in history.sent), default=1.0)
    at = moments or tuple(last * step / DEFAULT_POINTS for step in range(1, DEFAULT_POINTS + 1))
    return Curves(
        axis=axis,
        runs=len(histories),
        left_out=len(runs) - len(histories),
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
