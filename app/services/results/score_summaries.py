"""Percentiles of an experiment's attempts among the human teams, summarised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.wording import first_few
from app.errors import AttemptsMissing, Invalid
from app.services.results.attempts import attempt_of_import, attempt_of_run
from app.services.results.scope import ResultContext, ResultFilter
from app.services.results.several import several
from app.services.runtime.context import Context
from app.statistics.attempts import Attempt, Padding
from app.statistics.percentiles import percentile
from app.statistics.score_summaries import (
    ScoreEstimate,
    ScoreSummary,
    probability_better,
    summarise,
)
from app.storage.queries import competitions, results

NO_PLACE = "its score has no place: the full leaderboard is not here"
SHOWN = 3
Key = tuple[str, int]
Scores = list[NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A valid attempt whose place among the human teams is not known."""

    experiment: str
    competition: str
    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class Scored:
    """An experiment's percentiles, summarised; beside another's if there is one.

    `unplaced` attempts count as the padding says of missing results.
    """

    context: ResultContext
    against: ResultContext | None
    convention: str
    target: float
    unplaced: list[Unplaced]
    summary: ScoreSummary
    better: ScoreEstimate | None


def scores(
    context: Context,
    name: str,
    filters: ResultFilter,
    *,
    convention: str,
    target: float,
    against: str | None = None,
) -> Scored:
    """Summarise the percentiles of an experiment's final submissions.

    An attempt without a valid submission has percentile 0. `against` names another experiment:
    the answer then has the probability that an attempt of the first scores higher.

    Raises:
        NotFound: an experiment or the suite does not exist.
        Invalid: `against` is the experiment itself.
        AttemptsMissing: results, or places of results, are missing and the padding does not allow
            it.
        Conflict: the experiments have no competition in common, or one cannot be counted.
    """
    if against == name:
        raise Invalid("against: compare an experiment with another one.")
    names = [name] if against is None else [name, against]
    found = several(context, filters, names, strict=True).contexts
    unplaced: list[Unplaced] = []
    tables = [_scores(context, one, convention, unplaced) for one in found]
    return Scored(
        context=found[0],
        against=found[1] if against else None,
        convention=convention,
        target=target,
        unplaced=unplaced,
        summary=summarise(tables[0], target),
        better=probability_better(*tables) if against else None,
    )


def _scores(
    context: Context, counted: ResultContext, convention: str, unplaced: list[Unplaced]
) -> Scores:
    """The percentiles of the counted attempts, an array for each competition."""
    name, grid, padding = counted.experiment.name, counted.grid, counted.filters.padding
    known = _percentiles(context, counted, convention)
    failed = {(slug, seed) for slug, seed, _ in counted.missing}
    # With excluded=fail the flagged competitions are in the grid, as failures.
    failed |= {(slug, seed) for slug in counted.excluded for seed in grid.seeds}
    values = {key: 0.0 if key in failed else known.get(key) for key in grid.counted_keys}
    without = [key for key, value in values.items() if value is None]
    unplaced += [Unplaced(name, slug, seed, NO_PLACE) for slug, seed in without]
    if without and padding is Padding.NONE:
        raise _refusal(name, without, "")
    if padding is Padding.FAIL:
        values = {key: value or 0.0 for key, value in values.items()}
    elif padding is Padding.COMPLETE:
        dropped = {seed for _, seed in without}
        values = {key: value for key, value in values.items() if key[1] not in dropped}
    found = [
        [value for (slug, _), value in values.items() if slug == one and value is not None]
        for one in grid.competitions
    ]
    if not all(found):
        raise _refusal(name, without, f" padding={padding} then leaves a competition without any.")
    return [np.array(each) for each in found]


def _percentiles(context: Context, counted: ResultContext, convention: str) -> dict[Key, float]:
    """The percentile of each attempt: 0 without a valid submission; unplaced ones are left out."""
    name, archived = counted.experiment.name, counted.filters.archived
    wanted, basis = set(counted.grid.competitions), counted.filters.basis
    with context.database.read() as session:
        runs = list(
            results.run_results(session, experiments=[name], archived=archived, basis=basis)
        )
        imported = results.imported_results(
            session, experiments=[name], archived=archived, as_of=basis.as_of
        )
        versions = competitions.list_current(session, slugs=wanted, limit=len(wanted))
    found: dict[Key, float] = {}
    for run in runs:
        if run.excluded and not counted.filters.ignores_reviews:
            continue
        attempt = attempt_of_run(run._replace(excluded=False))
        if isinstance(attempt, Attempt) and not attempt.valid:
            found[run.competition, run.seed] = 0.0
        elif run.better is not None and run.equal is not None and run.worse is not None:
            found[run.competition, run.seed] = percentile(
                convention, run.better, run.equal, run.worse
            )
    boards = {each.slug: context.catalogue.entry(each).leaderboard for each in versions}
    for one in imported:
        board = boards.get(one.competition)
        if not attempt_of_import(one).valid:
            found[one.competition, one.seed] = 0.0
        elif one.score is not None and board is not None:
            place = board.standing(one.score)
            if place.better is not None and place.equal is not None and place.worse is not None:
                found[one.competition, one.seed] = percentile(
                    convention, place.better, place.equal, place.worse
                )
    return found


def _refusal(name: str, without: list[Key], more: str) -> AttemptsMissing:
    named = first_few([f"{slug} seed {seed}" for slug, seed in without], SHOWN)
    return AttemptsMissing(
        f"{name}: the place of {named} is not known, because only medal lines of the leaderboard "
        f"are here.{more} Import the full leaderboard, or say by padding how they count "
        "(fail, complete, available).",
        missing=[{"competition": slug, "seed": seed, "reason": NO_PLACE} for slug, seed in without],
    )
