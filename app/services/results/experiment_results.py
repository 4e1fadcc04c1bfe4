"""Medal rates and pass@k of one experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.result_choices import GroupBy
from app.services.results.choice.public_choice import PublicChoice, public_choice, public_scores
from app.services.results.inputs.competition_info import COMPLEXITIES, CompetitionInfo
from app.services.results.inputs.scope import ResultContext, ResultFilter, result_context
from app.services.runtime.context import Context
from app.statistics.pass_at_k import PassAtK, passes
from app.statistics.rates import GroupRates, named_groups
from app.statistics.rates import medal_rates as rates_of


def medal_rates(
    context: Context, name: str, filters: ResultFilter, group_by: GroupBy | None
) -> tuple[ResultContext, dict[str, GroupRates]]:
    """The experiment's rates, over all competitions and by group.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
    """
    found, info = result_context(context, name, filters)
    return found, rates_of(found.grid, groups_of(found, info, group_by))


def pass_at_k(
    context: Context, name: str, filters: ResultFilter, ks: tuple[int, ...], rate: str
) -> tuple[ResultContext, list[PassAtK], PublicChoice]:
    """pass@k for each k, and the same for the attempt with the best public score.

    Raises:
        Invalid: a k is larger than the number of attempts at a competition.
    """
    with context.database.snapshot():
        found, _ = result_context(context, name, filters)
        public = public_scores(context, found)
    return found, passes(found.grid, ks, rate), public_choice(context, found, public, ks, rate)


def groups_of(
    result_context: ResultContext, info: Mapping[str, CompetitionInfo], by: GroupBy | None
) -> dict[str, Sequence[str]]:
    """The competitions of an experiment by group."""
    slugs = result_context.grid.competitions
    if by is None:
        return {}
    if by is GroupBy.RESOURCES:
        return named_groups({describe(result_context.experiment.resources): slugs}, by.value)
    if by is GroupBy.TAG:
        tags = sorted({tag for slug in slugs for tag in info[slug].tags})
        of_tags = {tag: [s for s in slugs if tag in info[s].tags] for tag in tags}
        return named_groups(of_tags, by.value)
    value = {slug: getattr(info[slug], by.value) for slug in slugs}
    names = COMPLEXITIES if by is GroupBy.COMPLEXITY else sorted({v for v in value.values() if v})
    of_names = {name: [slug for slug in slugs if value[slug] == name] for name in names}
    return named_groups(of_names, by.value)


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
