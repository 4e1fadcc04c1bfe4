"""Several experiments over the same competitions: the board, comparisons and item tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.wording import first_few
from app.errors import Conflict, Invalid, NoCommonCompetition, NotFound
from app.services.experiments import experiments
from app.services.results.attempts import (
    CompetitionInfo,
    ExperimentResults,
    competition_info,
    gather,
)
from app.services.results.experiment_results import GroupBy, groups_of
from app.services.results.scope import (
    ResultContext,
    ResultFilter,
    context_of,
    disclosures,
    refuse_unknown_flags,
)
from app.services.runtime.archival import suite_slugs
from app.services.runtime.context import Context
from app.statistics.comparison import Comparison
from app.statistics.comparison import compare as compare_grids
from app.statistics.item_analysis import Item, item_table
from app.statistics.rates import GroupRates, medal_rates_of
from app.statistics.simultaneous import Simultaneous, compare_all
from app.storage.queries import experiments as stored_experiments

MOST_EXPERIMENTS = 100_000
MOST_COMPARED = 50  # 1,225 pairs
Absent = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Board:
    """The experiments' rates over the same `competitions`, best first.

    `absent` gives the experiments without a rate, each with the reason. `next_cursor` is None
    on the last page.
    """

    competitions: tuple[str, ...]
    rows: list[tuple[ResultContext, dict[str, GroupRates]]]
    absent: list[Absent]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Several:
    """Experiments over the same competitions, before any statistic."""

    info: Mapping[str, CompetitionInfo]
    contexts: list[ResultContext]
    absent: list[Absent]


def several(
    context: Context, filters: ResultFilter, names: Sequence[str] = (), *, strict: bool = False
) -> Several:
    """The named experiments (none named: all with results), all over the same competitions.

    Without a suite these are the competitions that all of them have runs or results at. With
    `strict` an experiment that cannot be counted is an error; without, it is listed in `absent`.

    Raises:
        NotFound: a named experiment or the suite does not exist.
        NoCommonCompetition: without a suite, no competition is common to all.
        Conflict: with `strict`, an experiment cannot be counted.
    """
    refuse_unknown_flags(context, filters)
    with context.database.read() as session:
        records = stored_experiments.list_page(
            session, archived=filters.archived or bool(names), limit=MOST_EXPERIMENTS
        )
    named = _named(names, {record.name for record in records})
    if named:
        records = sorted(
            (record for record in records if record.name in named),
            key=lambda record: named.index(record.name),
        )
    gathered = gather(context, named or None, archived=filters.archived)
    slugs = suite_slugs(context, filters.suite, archived=filters.archived)
    if slugs is None:
        slugs = _common({record.name: gathered[record.name] for record in records
                         if record.name in gathered})  # fmt: skip
    info = competition_info(context, slugs)
    disclosed = disclosures(context, list(gathered), filters)
    found = Several(info, [], [])
    for record in records:
        own = gathered.get(record.name)
        if own is None or (not named and not slugs & own.competitions):
            continue
        told = disclosed.get(record.name, {})
        try:
            found.contexts.append(context_of(record, own, info, filters, slugs, told))
        except Conflict as refusal:
            if strict:
                raise type(refusal)(
                    f"{record.name}: {refusal.detail}", **refusal.extensions
                ) from None
            found.absent.append((record.name, refusal.detail))
    return found


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
    order = sorted(
        found.contexts,
        key=lambda one: (-float(one.grid.shares[:, 0].mean()), one.experiment.name),
    )
    start = 0
    if after is not None:
        places = {one.experiment.name: at for at, one in enumerate(order)}
        if after not in places:
            raise Invalid("cursor: it is not the next_cursor of a page of this board.")
        start = places[after] + 1
    page = order[start:] if limit is None else order[start : start + limit]
    rates = medal_rates_of([(one.grid, groups_of(one, found.info, group_by)) for one in page])
    is_last = start + len(page) >= len(order)
    return Board(
        competitions=order[0].grid.competitions if order else (),
        rows=list(zip(page, rates, strict=True)),
        absent=found.absent,
        next_cursor=None if is_last else page[-1].experiment.name,
    )


def compare(
    context: Context, a: str, b: str, filters: ResultFilter, rate: str
) -> tuple[ResultContext, ResultContext, Comparison]:
    """Compare two experiments, paired over the suite's or over their common competitions.

    Raises:
        NotFound: an experiment or the suite does not exist.
        Conflict: the experiments have no competition in common, or one cannot be counted.
    """
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
) -> tuple[list[str], list[Item], list[Absent]]:
    """The suite's competitions as items of a test, over all experiments that can be counted."""
    found = several(context, filters, names)
    order = sorted(
        found.contexts,
        key=lambda one: (-float(one.grid.shares[:, 0].mean()), one.experiment.name),
    )
    labels = [one.experiment.name for one in order]
    return labels, item_table([one.grid for one in order], rate), found.absent


def _named(names: Sequence[str], known: set[str]) -> list[str]:
    """The experiments of a query: each value is a name, or several with commas between them."""
    found: list[str] = []
    for value in names:
        parts = [value] if value in known else [part for part in value.split(",") if part]
        for part in parts:
            if part not in known:
                raise NotFound(f"There is no experiment {part!r}.")
        found += parts
    return list(dict.fromkeys(found))


def _common(gathered: Mapping[str, ExperimentResults]) -> set[str]:
    """The competitions of all these experiments."""
    sets = {name: own.competitions for name, own in gathered.items() if own.competitions}
    if not sets:
        return set()
    common = set.intersection(*sets.values())
    if common:
        return common
    counts = Counter(slug for slugs in sets.values() for slug in slugs)
    rarest = sorted(sets, key=lambda name: max(counts[slug] for slug in sets[name]))
    raise NoCommonCompetition(
        f"These {len(sets)} experiments have no competition in common, so they cannot be ranked "
        f"or compared: {first_few(rarest, 5)}. Name a suite, or experiments that share "
        "competitions (experiments=A,B).",
        competitions={name: len(slugs) for name, slugs in sorted(sets.items())},
    )
