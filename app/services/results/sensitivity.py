"""Sensitivity of a rate to flags, competitions and padding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.result_choices import RATES, Padding
from app.errors import Conflict
from app.services.results.inputs.scope import ResultContext, ResultFilter, gathered
from app.services.runtime.context import Context
from app.statistics.attempts import Grid
from app.statistics.estimates import Interval, mean_in_percent
from app.statistics.intervals import in_percent, over_competitions, over_runs


class SensitivityChoice(StrEnum):
    """The choice that is varied."""

    FLAG = "flag"  # competitions with this flag are left out
    COMPETITION = "competition"  # this one is left out
    PADDING = "padding"  # missing results count so


@dataclass(frozen=True, slots=True)
class Variant:
    """The rate, in percent, under one other choice.

    `change` is its difference from the requested rate, in points. If there is no rate under this
    choice, `refused` says why, and the numbers are None. `missing` is the number of missing
    results, which count by its padding.
    """

    choice: SensitivityChoice
    name: str
    competitions: int | None
    mean: float | None
    change: float | None
    competitions95: Interval | None
    refused: str | None
    runs95: Interval | None = None
    missing: int | None = None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The requested rate, and that under each other choice, largest changes of a kind first."""

    context: ResultContext
    rate: str
    mean: float
    competitions95: Interval | None
    runs95: Interval | None
    variants: list[Variant]


def sensitivity(context: Context, name: str, filters: ResultFilter, rate: str) -> Sensitivity:
    """The rate without each flag and each competition, and with each padding.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
    """
    asked, others = _counted(context, name, filters)
    at = RATES.index(rate)
    mean, interval, again = rate_and_intervals(asked.grid, at, slice(None))

    def variant(choice: SensitivityChoice, label: str, grid: Grid | str) -> Variant:
        if isinstance(grid, str):
            return _refused(choice, label, grid)
        other, ends, runs = rate_and_intervals(grid, at, slice(None))
        number = len(grid.competitions)
        gaps = len(grid.missing)
        return Variant(
            choice, label, number, other, other - mean, ends, None, runs95=runs, missing=gaps
        )

    variants = [variant(*other) for other in others]
    variants += [_without(asked, at, place, mean) for place in range(len(asked.grid.shares))]
    order = list(SensitivityChoice)
    variants.sort(key=lambda one: (order.index(one.choice), -_size(one.change), one.name))
    return Sensitivity(asked, rate, mean, interval, again, variants)


def _size(change: float | None) -> float:
    """The size of a change in points; changes that differ in their last bits are equal."""
    return round(abs(change or 0.0), 9)


def _counted(
    context: Context, name: str, filters: ResultFilter
) -> tuple[ResultContext, list[tuple[SensitivityChoice, str, Grid | str]]]:
    """The counted attempts as asked, without each flag, and with each padding; or why none."""
    with context.database.snapshot():
        counted, _ = gathered(context, name, filters)
        asked = counted(filters)
        excluded = filters.exclude_flags
        changed = [
            (SensitivityChoice.FLAG, code, replace(filters, exclude_flags=(*excluded, code)))
            for code in sorted({code for _, code, _ in asked.flags} - set(excluded))
        ]
        changed += [
            (SensitivityChoice.PADDING, padding.value, replace(filters, padding=padding))
            for padding in Padding
            if padding is not filters.padding
        ]
        others: list[tuple[SensitivityChoice, str, Grid | str]] = []
        for choice, label, other in changed:
            try:
                others.append((choice, label, counted(other).grid))
            except Conflict as refusal:
                others.append((choice, label, refusal.detail))
    return asked, others


def _without(asked: ResultContext, at: int, place: int, mean: float) -> Variant:
    """The rate without one competition (the jackknife)."""
    grid, complete = asked.grid, asked.filters.padding is Padding.COMPLETE
    slug = grid.competitions[place]
    rest = [other for other in range(len(grid.competitions)) if other != place]
    if not rest:
        reason = "It is the only competition."
        return _refused(SensitivityChoice.COMPETITION, slug, reason)
    other, ends, runs = rate_and_intervals(grid, at, rest)
    # Seeds that are left out because of a missing result here stay left out at the others.
    gaps = sum(complete or each != slug for each, _ in grid.missing)
    change = other - mean
    return Variant(
        SensitivityChoice.COMPETITION, slug, len(rest), other, change, ends, None,
        runs95=runs, missing=gaps,
    )  # fmt: skip


def _refused(choice: SensitivityChoice, name: str, reason: str) -> Variant:
    return Variant(
        choice, name, competitions=None, mean=None, change=None, competitions95=None, refused=reason
    )


def rate_and_intervals(
    grid: Grid, at: int, chosen: slice | list[int]
) -> tuple[float, Interval | None, Interval | None]:
    """The rate, and its intervals for competitions like these and for these, run again."""
    shares = grid.shares[chosen][:, [at]]
    like, again = over_competitions(shares), over_runs(shares, grid.attempts[chosen])
    return (
        mean_in_percent(shares.ravel().tolist(), shares.size),
        in_percent(like),
        in_percent(again),
    )
