"""An experiment's medals over run time, tokens or dollars, and its selection regret."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.result_choices import Axis, Padding
from app.errors import Conflict
from app.services.results.choice.histories import MissingResult, histories_of
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.services.runtime.context import Context
from app.statistics.medals_over_time import Choice, Point, medals_over
from app.statistics.selection import Regret, selection_regret

DEFAULT_POINTS = 24
__all__ = ["Curves", "MissingResult", "curves"]


def evenly_spread(last: float) -> tuple[float, ...]:
    """24 points up to `last`. The last point is exactly `last`, the time of a submission.

    >>> evenly_spread(13980.415037 / 3600)[-1] == 13980.415037 / 3600
    True
    """
    return tuple(last * (step / DEFAULT_POINTS) for step in range(1, DEFAULT_POINTS + 1))


@dataclass(frozen=True, slots=True)
class Curves:
    """The medal rate under each choice at each point.

    `left_out` counts runs that reported no such usage. `missing` attempts have no result or, if
    imported, no times; `padding` says how they count. `context` has everything else that is left
    out.
    """

    axis: Axis
    padding: Padding
    runs: int
    seeds: int
    left_out: int
    missing: list[MissingResult]
    points: dict[Choice, list[Point]]
    regret: dict[Choice, Regret]
    context: ResultContext


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
    found = histories_of(context, name, filters, axis)
    histories, left_out = found.runs, found.left_out
    if not histories or (left_out and not any(each.sent for each in histories)):
        raise Conflict(f"No run of {name!r} here can be shown against {axis.value}.")
    sent = [each.at for history in histories for each in history.sent]
    sent += [each.invalid_from for each in histories if each.invalid_from is not None]
    at = moments or evenly_spread(max(sent, default=1.0))
    return Curves(
        axis=axis,
        padding=filters.padding,
        runs=len(histories),
        seeds=len({each.seed for each in histories}),
        left_out=left_out,
        missing=found.missing,
        points={choice: medals_over(histories, at, choice) for choice in Choice},
        regret={
            choice: selection_regret(histories, choice)
            for choice in Choice
            if choice is not Choice.ORACLE
        },
        context=found.context,
    )
