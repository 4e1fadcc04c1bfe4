"""Medal rates, pass@k, comparisons and item tables of experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.errors import AttemptsMissing, Conflict
from app.services.experiments import experiments
from app.services.results.attempts import (
    COMPLEXITIES,
    CompetitionInfo,
    ExperimentResults,
    competition_info,
    gather,
    refuse_without_board,
)
from app.services.runtime.context import Context
from app.statistics.attempts import Grid, Padding, make_grid
from app.statistics.comparison import Comparison
from app.statistics.comparison import compare as compare_grids
from app.statistics.item_analysis import Item, item_table
from app.statistics.pass_at_k import PassAtK, passes
from app.statistics.rates import GroupRates
from app.statistics.rates import medal_rates as rates_of
from app.storage.database.records import ExperimentRecord
from app.storage.queries import experiments as stored_experiments
from app.storage.queries import results


class GroupBy(StrEnum):
    """The property by which competitions are grouped."""

    COMPLEXITY = "complexity"
    CATEGORY = "category"
    TAG = "tag"
    RESOURCES = "resources"


class Excluded(StrEnum):
    """The treatment of attempts at competitions with an excluded flag."""

    DROP = "drop"  # the competition is left out
    FAIL = "fail"  # its attempts count as failures


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """The attempts that count, and how: the same for every statistic."""

    suite: str | None = None
    padding: Padding = Padding.NONE
    exclude_flags: tuple[str, ...] = ()
    excluded: Excluded = Excluded.DROP


@dataclass(frozen=True, slots=True)
class ResultContext:
    """The data behind a statistic, which reports show together with it."""

    experiment: ExperimentRecord
    filters: ResultFilter
    grid: Grid
    missing: tuple[tuple[str, int, str], ...]
    flags: tuple[tuple[str, str, str], ...]
    excluded: tuple[str, ...]
    open: int
    imported: int
    policies: Mapping[str, int]
    failures: Mapping[str, int]
    disclosed: Mapping[str, int]


def medal_rates(
    context: Context, name: str, filters: ResultFilter, group_by: GroupBy | None
) -> tuple[ResultContext, dict[str, GroupRates]]:
    """The experiment's rates, over all competitions and by group.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding is none.
        LeaderboardsMissing: a competition has no medals to win.
    """
    result_context, info = _result_context(context, name, filters)
    return result_context, rates_of(result_context.grid, _groups(result_context, info, group_by))


def experiment_board(
    context: Context, filters: ResultFilter, group_by: GroupBy | None
) -> tuple[list[tuple[ResultContext, dict[str, GroupRates]]], list[tuple[str, str]]]:
    """The rates of every experiment that has attempts, best first; and the excluded ones.

    Each excluded experiment is given with the reason.
    """
    with context.database.read() as session:
        records = stored_experiments.list_page(session, limit=100_000)
    gathered = gather(context)
    slugs = set(context.catalogue.suite(filters.suite)) if filters.suite else None
    known = set().union(*(each.competitions for each in gathered.values()), slugs or ())
    info = competition_info(context, known)
    disclosed = _disclosed(context, list(gathered))
    rows, absent = [], []
    for record in records:
        own = gathered.get(record.name)
        if own is None or (slugs and not slugs & own.competitions):
            continue
        try:
            result_context = _result_context_of(
                record, own, info, filters, slugs, disclosed.get(record.name, {})
            )
        except Conflict as refusal:
            absent.append((record.name, refusal.detail))
            continue
        rows.append(
            (result_context, rates_of(result_context.grid, _groups(result_context, info, group_by)))
        )
    rows.sort(key=lambda row: (-row[1]["all"].rates["any_medal"].mean, row[0].experiment.name))
    return rows, absent


def pass_at_k(
    context: Context, name: str, filters: ResultFilter, ks: tuple[int, ...], rate: str
) -> tuple[ResultContext, list[PassAtK]]:
    """The probability that the best of k attempts counts, for each k.

    Raises:
        Invalid: a k is larger than the number of seeds.
    """
    result_context, _ = _result_context(context, name, filters)
    return result_context, passes(result_context.grid, ks, rate)


def compare(
    context: Context, a: str, b: str, filters: ResultFilter, rate: str
) -> tuple[ResultContext, ResultContext, Comparison]:
    """Compare two experiments, paired over the suite's or over their common competitions.

    Raises:
        NotFound: an experiment or the suite does not exist.
        Conflict: the experiments have no competition in common.
    """
    records = [experiments.find(context, name) for name in (a, b)]
    gathered = gather(context, sorted({a, b}))
    if filters.suite:
        slugs = set(context.catalogue.suite(filters.suite))
    else:
        slugs = gathered[a].competitions & gathered[b].competitions
    if not slugs:
        raise Conflict(f"{a} and {b} have no competition in common.")
    info = competition_info(context, slugs)
    disclosed = _disclosed(context, [a, b])
    first, second = (
        _result_context_of(
            one, gathered[one.name], info, filters, slugs, disclosed.get(one.name, {})
        )
        for one in records
    )
    return first, second, compare_grids(first.grid, second.grid, rate)


def items(context: Context, filters: ResultFilter, rate: str) -> tuple[list[str], list[Item]]:
    """The suite's competitions as items of a test, over all experiments with complete results."""
    rows, _ = experiment_board(context, filters, None)
    grids = [result_context.grid for result_context, _ in rows]
    return [result_context.experiment.name for result_context, _ in rows], item_table(grids, rate)


def _result_context(
    context: Context, name: str, filters: ResultFilter
) -> tuple[ResultContext, dict[str, CompetitionInfo]]:
    record = experiments.find(context, name)
    own = gather(context, [name])[name]
    slugs = set(context.catalogue.suite(filters.suite)) if filters.suite else None
    info = competition_info(context, slugs or own.competitions)
    disclosed = _disclosed(context, [name]).get(name, {})
    return _result_context_of(record, own, info, filters, slugs, disclosed), info


def _result_context_of(
    record: ExperimentRecord,
    own: ExperimentResults,
    info: Mapping[str, CompetitionInfo],
    filters: ResultFilter,
    slugs: set[str] | None,
    disclosed: Mapping[str, int],
) -> ResultContext:
    wanted = own.competitions if slugs is None else slugs
    unwanted = set(filters.exclude_flags)
    excluded = sorted(s for s in wanted if unwanted & {code for code, _ in info[s].flags})
    used = wanted - set(excluded) if filters.excluded is Excluded.DROP else wanted
    refuse_without_board(slug for slug in used if info[slug].has_board is False)
    attempts = own.attempts
    if excluded and filters.excluded is Excluded.FAIL:
        attempts = [each.failed() if each.competition in excluded else each for each in attempts]
    try:
        grid = make_grid(
            attempts, used, seeds=own.seeds_at(sorted(used)), padding=filters.padding
        )  # fmt: skip
    except AttemptsMissing as refusal:
        for each in refusal.extensions["missing"]:
            each["reason"] = own.pending.get((each["competition"], each["seed"]), "no run")
        raise
    return ResultContext(
        experiment=record,
        filters=filters,
        grid=grid,
        missing=tuple((s, n, own.pending.get((s, n), "no run")) for s, n in grid.missing),
        flags=tuple((s, *flag) for s in grid.competitions for flag in info[s].flags),
        excluded=tuple(excluded),
        open=own.open,
        imported=own.imported,
        policies=own.policies,
        failures=own.failures,
        disclosed=disclosed,
    )


def _groups(
    result_context: ResultContext, info: Mapping[str, CompetitionInfo], by: GroupBy | None
) -> dict[str, Sequence[str]]:
    slugs = result_context.grid.competitions
    if by is None:
        return {}
    if by is GroupBy.RESOURCES:
        return {describe(result_context.experiment.resources): slugs}
    if by is GroupBy.TAG:
        tags = sorted({tag for slug in slugs for tag in info[slug].tags})
        return {tag: [s for s in slugs if tag in info[s].tags] for tag in tags}
    value = {slug: getattr(info[slug], by.value) for slug in slugs}
    names = COMPLEXITIES if by is GroupBy.COMPLEXITY else sorted({v for v in value.values() if v})
    return {name: [slug for slug in slugs if value[slug] == name] for name in names}


def describe(resources: dict[str, Any] | None) -> str:
    """Describe an experiment's resources, for groups and comparisons.

    >>> describe({"hours": 24.0, "gpus": 1.0, "gpu_kind": "A10", "internet": False})
    '24 hours, 1 gpus A10, no internet'
    """
    given = resources or {}
    parts = [f"{given[k]:g} {k}" for k in ("hours", "cpus", "gpus") if given.get(k) is not None]
    if given.get("gpu_kind"):
        parts.append(given["gpu_kind"])
    text = ", ".join(parts).replace(f", {given.get('gpu_kind')}", f" {given.get('gpu_kind')}")
    if given.get("memory_gb") is not None:
        text += f", {given['memory_gb']:g} GB"
    if given.get("internet") is not None:
        text += ", internet" if given["internet"] else ", no internet"
    return text.strip(", ") or "not told"


def _disclosed(context: Context, names: list[str]) -> dict[str, dict[str, int]]:
    with context.database.read() as session:
        return results.exposure_totals(session, names)
