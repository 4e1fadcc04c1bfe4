"""pass@k, and the success of selection by public score among k runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.result_choices import RATES
from app.services.results.inputs.scope import ResultContext
from app.services.runtime.context import Context
from app.statistics.chosen_by_public import ChosenAtK, ScoredAttempt, chosen_by_public
from app.storage.queries import results

Key = tuple[str, int]  # competition and seed


@dataclass(frozen=True, slots=True)
class PublicChoice:
    """Both chances, over the competitions whose public scores are known; the others are listed."""

    found: list[ChosenAtK]
    without_public_scores: list[str]


def public_scores(context: Context, counted: ResultContext) -> dict[Key, tuple[int, float]]:
    """The version and public score of each final submission that has one."""
    name, filters = counted.experiment.name, counted.filters
    with context.database.read() as session:
        runs = results.run_results(
            session, experiments=[name], archived=filters.archived, basis=filters.basis
        )
        finals = {run.final: run for run in runs}
        return {
            (run.competition, run.seed): (run.version_id, sent.public_score)
            for sent in results.graded_submissions(session, name, basis=filters.basis)
            if sent.public_score is not None and (run := finals.get(sent.id)) is not None
        }


def public_choice(
    context: Context,
    counted: ResultContext,
    public: Mapping[Key, tuple[int, float]],
    ks: tuple[int, ...],
    rate: str,
) -> PublicChoice:
    """Choose by public score among the final submissions of each competition's runs.

    A competition is left out if one of its valid attempts has no public score, because the
    competition has none or the result was imported.
    """
    grid = counted.grid
    column, valid = RATES.index(rate), RATES.index("valid_submission")
    attempts: dict[str, list[ScoredAttempt]] = {}
    without = set()
    for row, at in zip(*grid.counted.nonzero(), strict=True):
        slug, seed = grid.competitions[at], grid.seeds[row]
        success = bool(grid.outcomes[row, at, column])
        score = None
        if grid.outcomes[row, at, valid]:
            known = public.get((slug, seed))
            if known is None:
                without.add(slug)
                continue
            version, score = known
            metric = context.catalogue.of_version(version).competition.metric
            score = score if metric.higher_is_better else -score
        attempts.setdefault(slug, []).append(ScoredAttempt(success, score))
    scored = [each for slug, each in sorted(attempts.items()) if slug not in without]
    return PublicChoice(chosen_by_public(scored, ks), sorted(without))
