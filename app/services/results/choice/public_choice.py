"""pass@k, and the success of selection by public score among k runs."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.result_choices import RATES
from app.services.results.inputs.scope import ResultContext
from app.services.runtime.context import Context
from app.statistics.chosen_by_public import ChosenAtK, ScoredAttempt, chosen_by_public
from app.storage.queries import results


@dataclass(frozen=True, slots=True)
class PublicChoice:
    """Both chances over the competitions whose public scores are known; others are listed."""

    found: list[ChosenAtK]
    without_public_scores: list[str]


def public_choice(
    context: Context, counted: ResultContext, ks: tuple[int, ...], rate: str
) -> PublicChoice:
    """Choose by public score among the final submissions of each competition's runs.

    A competition is left out if one of its valid attempts has no public score: its grader gives
    none, or the result was imported.
    """
    grid, filters = counted.grid, counted.filters
    name = counted.experiment.name
    with context.database.read() as session:
        runs = list(
            results.run_results(
                session, experiments=[name], archived=filters.archived, basis=filters.basis
            )
        )
        public = {
            one.id: one.public_score
            for one in results.graded_submissions(session, name, basis=filters.basis)
        }
    final = {(run.competition, run.seed): run for run in runs}
    column, valid = RATES.index(rate), RATES.index("valid_submission")
    attempts: dict[str, list[ScoredAttempt]] = {}
    without = set()
    for row, at in zip(*grid.counted.nonzero(), strict=True):
        slug, seed = grid.competitions[at], grid.seeds[row]
        success = bool(grid.outcomes[row, at, column])
        score = None
        if grid.outcomes[row, at, valid]:
            run = final.get((slug, seed))
            score = None if run is None or run.final is None else public.get(run.final)
            if run is None or score is None:
                without.add(slug)
                continue
            metric = context.catalogue.of_version(run.version_id).competition.metric
            score = score if metric.higher_is_better else -score
        attempts.setdefault(slug, []).append(ScoredAttempt(success, score))
    known = [each for slug, each in sorted(attempts.items()) if slug not in without]
    return PublicChoice(chosen_by_public(known, ks), sorted(without))
