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
    """What competitions are grouped by."""

    COMPLEXITY = "complexity"
    CATEGORY = "category"
    TAG = "tag"
    RESOURCES = "resources"


class Excluded(StrEnum):
    """What becomes of attempts at competitions with an excluded flag."""

    DROP = "drop"  # the competition is left out
    FAIL = "fail"  # its attempts count as failures


@dataclass(frozen=True, slots=True)
class ResultFilter:
    """Which attempts count, and how: the same for every statistic."""

    suite: str | None = None
    padding: Padding = Padding.NONE
    exclude_flags: tuple[str, ...] = ()
    excluded: Excluded = Excluded.DROP


@dataclass(frozen=True, slots=True)
class ResultContext:
    """What a number rests on, printed along with it."""

    experiment: ExperimentRecord
    scope: ResultFilter
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
    context: Context, name: str, scope: ResultFilter, group_by: GroupBy | None
) -> tuple[ResultContext, dict[str, GroupRates]]:
    """The experiment's rates, over all competitions and by group.

    Raises:
        NotFound: no such experiment or suite.
        AttemptsMissing: results are missing and the padding is none.
        LeaderboardsMissing: a competition has no medals to win.
    """
    basis, facts = _result_context(context, name, scope)
    return basis, rates_of(basis.grid, _groups(basis, facts, group_by))


def experiment_board(
    context: Context, scope: ResultFilter, group_by: GroupBy | None
) -> tuple[list[tuple[ResultContext, dict[str, GroupRates]]], list[tuple[str, str]]]:
    """The rates of every experiment in the scope, best first; and who is not on it, and why."""
    with context.database.read() as session:
        records = stored_experiments.list_page(session, limit=100_000)
    gathered = gather(context)
    slugs = set(context.catalogue.suite(scope.suite)) if scope.suite else None
    known = set().union(*(each.competitions for each in gathered.values()), slugs or ())
    facts = competition_info(context, known)
    disclosed = _disclosed(context, list(gathered))
    rows, absent = [], []
    for record in records:
        mine = gathered.get(record.name)
        if mine is None or (slugs and not slugs & mine.competitions):
            continue
        try:
            basis = _result_context_of(
                record, mine, facts, scope, slugs, disclosed.get(record.name, {})
            )
        except Conflict as refusal:
            absent.append((record.name, refusal.detail))
            continue
        rows.append((basis, rates_of(basis.grid, _groups(basis, facts, group_by))))
    rows.sort(key=lambda row: (-row[1]["all"].rates["any_medal"].mean, row[0].experiment.name))
    return rows, absent


def pass_at_k(
    context: Context, name: str, scope: ResultFilter, ks: tuple[int, ...], rate: str
) -> tuple[ResultContext, list[PassAtK]]:
    """The chance that the best of k attempts counts, for each k.

    Raises:
        Invalid: a k is larger than the number of seeds.
    """
    basis, _ = _result_context(context, name, scope)
    return basis, passes(basis.grid, ks, rate)


def compare(
    context: Context, a: str, b: str, scope: ResultFilter, rate: str
) -> tuple[ResultContext, ResultContext, Comparison]:
    """Two experiments, paired over the suite's competitions, or over those both were at."""
    records = [experiments.find(context, name) for name in (a, b)]
    gathered = gather(context, sorted({a, b}))
    if scope.suite:
        slugs = set(context.catalogue.suite(scope.suite))
    else:
        slugs = gathered[a].competitions & gathered[b].competitions
    if not slugs:
        raise Conflict(f"{a} and {b} have no competition in common.")
    facts = competition_info(context, slugs)
    disclosed = _disclosed(context, [a, b])
    first, second = (
        _result_context_of(
            one, gathered[one.name], facts, scope, slugs, disclosed.get(one.name, {})
        )
        for one in records
    )
    return first, second, compare_grids(first.grid, second.grid, rate)


def items(context: Context, scope: ResultFilter, rate: str) -> tuple[list[str], list[Item]]:
    """The suite's competitions as items of a test, over all experiments that can be counted."""
    rows, _ = experiment_board(context, scope, None)
    grids = [basis.grid for basis, _ in rows]
    return [basis.experiment.name for basis, _ in rows], item_table(grids, rate)


def _result_context(
    context: Context, name: str, scope: ResultFilter
) -> tuple[ResultContext, dict[str, CompetitionInfo]]:
    record = experiments.find(context, name)
    mine = gather(context, [name])[name]
    slugs = set(context.catalogue.suite(scope.suite)) if scope.suite else None
    facts = competition_info(context, slugs or mine.competitions)
    disclosed = _disclosed(context, [name]).get(name, {})
    return _result_context_of(record, mine, facts, scope, slugs, disclosed), facts


def _result_context_of(
    record: ExperimentRecord,
    mine: ExperimentResults,
    facts: Mapping[str, CompetitionInfo],
    scope: ResultFilter,
    slugs: set[str] | None,
    disclosed: Mapping[str, int],
) -> ResultContext:
    asked = mine.competitions if slugs is None else slugs
    unwanted = set(scope.exclude_flags)
    out = sorted(s for s in asked if unwanted & {code for code, _ in facts[s].flags})
    kept = asked - set(out) if scope.excluded is Excluded.DROP else asked
    refuse_without_board(slug for slug in kept if facts[slug].has_board is False)
    attempts = mine.attempts
    if out and scope.excluded is Excluded.FAIL:
        attempts = [each.failed() if each.competition in out else each for each in attempts]
    try:
        grid = make_grid(
            attempts, kept, seeds=mine.seeds_at(sorted(kept)), padding=scope.padding
        )  # fmt: skip
    except AttemptsMissing as refusal:
        for each in refusal.extensions["missing"]:
            each["reason"] = mine.pending.get((each["competition"], each["seed"]), "no run")
        raise
    return ResultContext(
        experiment=record,
        scope=scope,
        grid=grid,
        missing=tuple((s, n, mine.pending.get((s, n), "no run")) for s, n in grid.missing),
        flags=tuple((s, *flag) for s in grid.competitions for flag in facts[s].flags),
        excluded=tuple(out),
        open=mine.open,
        imported=mine.imported,
        policies=mine.policies,
        failures=mine.failures,
        disclosed=disclosed,
    )


def _groups(
    basis: ResultContext, facts: Mapping[str, CompetitionInfo], by: GroupBy | None
) -> dict[str, Sequence[str]]:
    slugs = basis.grid.competitions
    if by is None:
        return {}
    if by is GroupBy.RESOURCES:
        return {describe(basis.experiment.resources): slugs}
    if by is GroupBy.TAG:
        tags = sorted({tag for slug in slugs for tag in facts[slug].tags})
        return {tag: [s for s in slugs if tag in facts[s].tags] for tag in tags}
    value = {slug: getattr(facts[slug], by.value) for slug in slugs}
    names = COMPLEXITIES if by is GroupBy.COMPLEXITY else sorted({v for v in value.values() if v})
    return {name: [slug for slug in slugs if value[slug] == name] for name in names}


def describe(resources: dict[str, Any] | None) -> str:
    """Resources in a few words: what an experiment is grouped and compared under.

    >>> describe({"hours": 24.0, "gpus": 1.0, "gpu_kind": "A10", "internet": False})
    '24 hours, 1 gpus A10, no internet'
    """
    told = resources or {}
    parts = [f"{told[k]:g} {k}" for k in ("hours", "cpus", "gpus") if told.get(k) is not None]
    if told.get("gpu_kind"):
        parts.append(told["gpu_kind"])
    text = ", ".join(parts).replace(f", {told.get('gpu_kind')}", f" {told.get('gpu_kind')}")
    if told.get("memory_gb") is not None:
        text += f", {told['memory_gb']:g} GB"
    if told.get("internet") is not None:
        text += ", internet" if told["internet"] else ", no internet"
    return text.strip(", ") or "not told"


def _disclosed(context: Context, names: list[str]) -> dict[str, dict[str, int]]:
    with context.database.read() as session:
        return results.exposure_totals(session, names)
