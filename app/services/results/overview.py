"""Summaries of experiments, each with rates over its own competitions, for lists.

The rates are those of `experiment_results.medal_rates` with padding=available, over the existing
results. A few queries read them for a page of experiments, whatever the number of runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from app.errors import NotFound
from app.services.results.experiment_summary import (
    COUNTED,
    ExperimentSummary,
    spent,
    summarize,
)
from app.services.results.noise.experiment_noise import is_near
from app.services.runtime.context import Context
from app.storage.queries.noise import uncertainties
from app.storage.queries.overview import competition_counts as counting
from app.storage.queries.overview import experiments as listing
from app.storage.queries.overview.competition_counts import CompetitionCounts
from app.storage.queries.overview.experiments import ListedExperiment
from app.storage.queries.regrades.in_force import in_force

COMPUTED_SORTS = ("any_medal", *COUNTED, "percentile", "seconds", "cost_usd", "runs")
SUMMARY_BYTES = 2_000
MOST_SORTED = 1000  # experiments that are sorted by a number that has to be computed


def page(
    context: Context, *, q: str, sort: str, descending: bool, limit: int, offset: int
) -> tuple[list[ExperimentSummary], int]:
    """A page of experiments that are not archived, and the number of all of them.

    `sort` is one of `listing.SORTS` and `COMPUTED_SORTS`. Of the latter, the newest `MOST_SORTED`
    experiments are sorted; those without the number come last.
    """
    computed = sort in COMPUTED_SORTS
    losses = context.database.losses
    with context.database.read() as session:
        found, total = listing.list_experiments(
            session,
            q=q,
            sort="created" if computed else sort,
            descending=descending or computed,
            limit=MOST_SORTED if computed else limit,
            offset=0 if computed else offset,
        )
        summaries = _summaries(context, session, found, losses)
    if not computed:
        return summaries, total
    sign = -1.0 if descending else 1.0
    keys = {one.experiment.name: _sort_key(one, sort) for one in summaries}

    def order(one: ExperimentSummary) -> tuple[bool, float, str]:
        number = keys[one.experiment.name]
        return number is None, sign * (number or 0.0), one.experiment.name

    return sorted(summaries, key=order)[offset : offset + limit], min(total, MOST_SORTED)


def listed(context: Context, name: str) -> ListedExperiment:
    """One experiment, also if it is archived.

    Raises:
        NotFound: it does not exist.
    """
    with context.database.read() as session:
        found, _ = listing.list_experiments(session, name=name, limit=1)
    if not found:
        raise NotFound(f"There is no experiment {name!r}.")
    return found[0]


def _sort_key(one: ExperimentSummary, sort: str) -> float | None:
    if sort in ("percentile", "seconds", "cost_usd", "runs"):
        value: float | None = getattr(one, sort)
        return value
    return None if one.rates is None else one.rates[sort]


def _summaries(
    context: Context, session: Session, found: Sequence[ListedExperiment], losses: int
) -> list[ExperimentSummary]:
    """The summaries of experiments, cached while the results of their runs do not change.

    `losses` are those of the database before the experiments were read.
    """
    kept: dict[str, ExperimentSummary] = {}
    for one in found:
        if one.state is None:
            continue
        version = (one.state, losses)
        summary = context.kept.get(("summary", one.experiment.name), version)
        if summary is not None:
            kept[one.experiment.name] = _with_present(summary, one)
    others = [one for one in found if one.experiment.name not in kept]
    if others:
        counts: dict[str, list[CompetitionCounts]] = {one.experiment.name: [] for one in others}
        is_regraded = any(one.is_regraded for one in others)
        for each in counting.competition_counts(session, list(counts), is_regraded=is_regraded):
            counts[each.experiment].append(each)
        seeds = counting.seed_counts(session, list(counts))
        near: Counter[str] = Counter()
        if any(one.has_noise for one in others):
            regrades = [one.id for one in in_force(session)] if is_regraded else []
            finals = uncertainties.of_finals(session, list(counts), regrades)
            near.update(name for name, medal, chances in finals if is_near(medal, chances))
        names = [one.experiment.name for one in others]
        made = summarize(
            context,
            [
                (one, counts[name], seeds.get(name, 0))
                for one, name in zip(others, names, strict=True)
            ],
        )
        for one, found_here in zip(others, made, strict=True):
            summary = replace(found_here, near_lines=near[one.experiment.name])
            kept[one.experiment.name] = summary
            if one.state is not None:
                version = (one.state, losses)
                context.kept.put(("summary", one.experiment.name), version, summary, SUMMARY_BYTES)
    return [kept[one.experiment.name] for one in found]


def _with_present(summary: ExperimentSummary, listed: ListedExperiment) -> ExperimentSummary:
    """A cached summary, with present values of the fields that change independently of results."""
    return replace(
        summary, experiment=listed.experiment, disclosed=listed.disclosed, **spent(listed)
    )
