"""Scores of an experiment's attempts on a scale that competitions share, summarised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.result_choices import Padding
from app.domain.wording import first_few
from app.errors import AttemptsMissing, Invalid
from app.services.experiments import experiments
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.services.results.inputs.several import several
from app.services.results.scores.score_values import NO_VALUE, REMEDY, Key, values
from app.services.runtime.context import Context
from app.statistics.percentiles import DEFAULT_CONVENTION, PERCENTILE, SCALES
from app.statistics.scores.probability_better import probability_better
from app.statistics.scores.score_estimates import ScoreEstimate, ScoreSummary
from app.statistics.scores.score_summaries import summarise

SHOWN_UNPLACED = 3
Scores = list[NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A valid attempt that has no score on the scale, such as one whose place is not known."""

    experiment: str
    competition: str
    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class ScoredExperiment:
    """The summary of an experiment's scores, optionally compared with another's.

    `convention` is that of percentiles, None on other scales. `unplaced` attempts count as missing
    results do, by the padding.
    """

    context: ResultContext
    against: ResultContext | None
    scale: str
    convention: str | None
    target: float
    unplaced: list[Unplaced]
    summary: ScoreSummary
    better: ScoreEstimate | None


def scores(
    context: Context,
    name: str,
    filters: ResultFilter,
    *,
    scale: str = PERCENTILE,
    convention: str | None = None,
    target: float | None = None,
    against: str | None = None,
) -> ScoredExperiment:
    """Summarise the scores of an experiment's final submissions on a scale.

    An attempt without a valid submission has 0 on each scale. `target` is that of the optimality
    gap; None takes the scale's. `against` names another experiment:
    the answer then has the probability that an attempt of the first scores higher.

    Raises:
        NotFound: an experiment or the suite does not exist.
        Invalid: `against` is the experiment itself, `target` is not on the scale, or a convention
            of percentiles is named with another scale.
        AttemptsMissing: results, or scores on the scale, are missing and the padding does not allow
            it.
        Conflict: the experiments have no competition in common, or one cannot be counted.
    """
    if against == name:
        raise Invalid("against: compare an experiment with another one.")
    if convention is not None and scale != PERCENTILE:
        raise Invalid(f"percentile: it is for scale={PERCENTILE}; {scale} has no convention.")
    if convention is None and scale == PERCENTILE:
        convention = DEFAULT_CONVENTION
    ends = SCALES[scale]
    aim = ends.target if target is None else target
    if not ends.low <= aim <= ends.high:
        raise Invalid(f"target: {scale} goes from {ends.low:g} to {ends.high:g}.")
    names = [name] if against is None else [name, against]
    for one in names:  # `several` would take a name that does not exist apart at its commas
        experiments.find(context, one)
    found = several(context, filters, names, strict=True).contexts
    unplaced: list[Unplaced] = []
    tables = [_scores(context, one, scale, convention, unplaced) for one in found]
    return ScoredExperiment(
        context=found[0],
        against=found[1] if against else None,
        scale=scale,
        convention=convention,
        target=aim,
        unplaced=unplaced,
        summary=summarise(tables[0], aim, low=ends.low, high=ends.high),
        better=probability_better(*tables) if against else None,
    )


def _scores(
    context: Context,
    counted: ResultContext,
    scale: str,
    convention: str | None,
    unplaced: list[Unplaced],
) -> Scores:
    """The scores of the counted attempts, an array for each competition."""
    name, grid, padding = counted.experiment.name, counted.grid, counted.filters.padding
    known = values(context, counted, scale, convention)
    failed = {(slug, seed) for slug, seed, _ in counted.missing}
    # With excluded=fail the flagged competitions are in the grid, as failures.
    failed |= {(slug, seed) for slug in counted.excluded for seed in grid.seeds}
    scored = {key: 0.0 if key in failed else known.get(key) for key in grid.counted_keys}
    without = [key for key, value in scored.items() if value is None]
    unplaced += [Unplaced(name, slug, seed, NO_VALUE[scale]) for slug, seed in without]
    if without and padding is not Padding.FAIL:
        # Without them only the failures at their competitions would count.
        raise _refusal(name, scale, without)
    found = [
        [value or 0.0 for (slug, _), value in scored.items() if slug == one]
        for one in grid.competitions
    ]
    return [np.array(each) for each in found]


def _refusal(name: str, scale: str, without: list[Key]) -> AttemptsMissing:
    named = first_few([f"{slug} seed {seed}" for slug, seed in without], SHOWN_UNPLACED)
    return AttemptsMissing(
        f"{name}: {named}: {NO_VALUE[scale]}. {REMEDY[scale]}, or let them count as "
        "failures by padding=fail.",
        missing=[
            {"competition": slug, "seed": seed, "reason": NO_VALUE[scale]} for slug, seed in without
        ],
    )
