"""Several experiments over the same competitions: the board, comparisons and item tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.result_choices import GroupBy
from app.errors import Invalid
from app.services.experiments import experiments
from app.services.results.experiment_results import groups_of
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.services.results.inputs.several import Absent, Several, several
from app.services.runtime.context import Context
from app.statistics.comparison import Comparison
from app.statistics.comparison import compare as compare_grids
from app.statistics.estimates import mean_in_percent
from app.statistics.item_analysis import ItemTable, item_table
from app.statistics.rates import GroupRates, medal_rates_of
from app.statistics.simultaneous import Simultaneous, compare_all

MOST_COMPARED = 50  # 1,225 pairs
RATES_BYTES = 5_000  # memory of one group's rates


@dataclass(frozen=True, slots=True)
class Board:
    """The experiments' rates over the same `competitions`, best first.

    `absent` gives the experiments without a rate, each with the reason. The rows are a page of
    `total`, after `before` others; `next_cursor` is None on the last page.
    """

    competitions: tuple[str, ...]
    rows: list[tuple[ResultContext, dict[str, GroupRates]]]
    absent: list[Absent]
    total: int
    before: int = 0
    next_cursor: str | None = None


def experiment_board(
    context: Context,
    filters: ResultFilter,
    group_by: GroupBy | None,
    names: Sequence[str] = (),
    *,
    after: str | None = None,
    limit: int | None = None,
) -> Board:
    """The rates of the experiments over the same competitions, best first.

    With a `limit`, a page of them, after the experiment `after`.

    Raises:
        NotFound: a named experiment or the suite does not exist.
        Invalid: the experiment `after` is not on the board.
        NoCommonCompetition: without a suite, no competition is common to all experiments.
    """
    found = several(context, filters, names)
    order = best_first(found.contexts)
    start = 0
    if after is not None:
        places = {one.experiment.name: at for at, one in enumerate(order)}
        if after not in places:
            raise Invalid("cursor: it is not the next_cursor of a page of this board.")
        start = places[after] + 1
    page = order[start:] if limit is None else order[start : start + limit]
    rates = _rates(context, found, page, group_by)
    is_last = start + len(page) >= len(order)
    return Board(
        competitions=order[0].grid.competitions if order else (),
        rows=list(zip(page, rates, strict=True)),
        absent=found.absent,
        total=len(order),
        before=start,
        next_cursor=None if is_last else page[-1].experiment.name,
    )


def _rates(
    context: Context, found: Several, page: Sequence[ResultContext], group_by: GroupBy | None
) -> list[dict[str, GroupRates]]:
    """Rates of a page; the rates of cached grids are reused."""
    rates: list[dict[str, GroupRates] | None] = []
    with context.kept.turn():
        asked = [(one.grid, groups_of(one, found.info, group_by)) for one in page]
        keys = [("rates", one.experiment.name, one.filters, group_by) for one in page]
        for key, (grid, groups) in zip(keys, asked, strict=True):
            kept = context.kept.get(key, None)
            same = kept is not None and kept[0] is grid and kept[1] == groups
            rates.append(kept[2] if same else None)
        missing = [at for at, one in enumerate(rates) if one is None]
        made = medal_rates_of([asked[at] for at in missing])
        for at, one in zip(missing, made, strict=True):
            rates[at] = one
            context.kept.put(keys[at], None, (*asked[at], one), RATES_BYTES * len(one))
    return [one for one in rates if one is not None]


def compare(
    context: Context, a: str, b: str, filters: ResultFilter, rate: str
) -> tuple[ResultContext, ResultContext, Comparison]:
    """Compare two experiments, paired over the suite's or over their common competitions.

    Raises:
        Invalid: both are the same.
        NotFound: an experiment or the suite does not exist.
        Conflict: the experiments have no competition in common, or one cannot be counted.
    """
    if a == b:
        raise Invalid("Compare an experiment with another one.")
    for name in (a, b):
        experiments.find(context, name)
    first, second = several(context, filters, [a, b], strict=True).contexts
    return first, second, compare_grids(first.grid, second.grid, rate)


def compare_many(
    context: Context, names: Sequence[str], filters: ResultFilter, rate: str
) -> tuple[list[ResultContext], Simultaneous]:
    """Compare all pairs of several experiments at once.

    Raises:
        Invalid: fewer than two experiments are named, or too many.
        NotFound: an experiment or the suite does not exist.
        Conflict: the experiments have no competition in common, or one cannot be counted.
    """
    found = several(context, filters, names, strict=True).contexts
    if len(found) < 2:
        raise Invalid("experiments: name at least two different experiments.")
    if len(found) > MOST_COMPARED:
        raise Invalid(f"experiments: at most {MOST_COMPARED} are compared at once.")
    labels = [one.experiment.name for one in found]
    return found, compare_all(labels, [one.grid for one in found], rate)


def items(
    context: Context, filters: ResultFilter, rate: str, names: Sequence[str] = ()
) -> tuple[list[ResultContext], ItemTable, list[Absent]]:
    """The suite's competitions as items of a test, over all experiments that can be counted.

    These come with it, best first.
    """
    found = several(context, filters, names)
    order = best_first(found.contexts)
    labels = [one.experiment.name for one in order]
    return order, item_table([one.grid for one in order], rate, labels), found.absent


def best_first(found: Sequence[ResultContext]) -> list[ResultContext]:
    """The experiments by their rate of any medal, then by name."""

    def place(one: ResultContext) -> tuple[float, str]:
        any_medal = one.grid.shares[:, 0].tolist()
        return -mean_in_percent(any_medal, len(any_medal)), one.experiment.name

    return sorted(found, key=place)
