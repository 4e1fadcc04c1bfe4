"""The stored noise of the final scores of an experiment, and how many medals are within it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.domain.medals import Medal
from app.services.experiments import experiments
from app.services.results.inputs.scope import ResultContext
from app.services.runtime.context import Context
from app.storage.queries import results
from app.storage.queries.noise import uncertainties
from app.storage.queries.noise.uncertainties import UncertaintyRecord
from app.storage.queries.regrades.in_force import NOW, Basis

# The chance that a normally distributed score exceeds its mean by more than one standard error. A
# medal is within the noise if at least this share of the resamples do not win it.
ONE_ERROR = 0.1587
RATES = ("any_medal", *(medal.value for medal in Medal))


@dataclass(frozen=True, slots=True)
class FinalScore:
    """The final score of a run, and its noise; `kept` is None if it was not estimated yet.

    `regrade` is the regrade that gave the score. Such a score has no noise, because the stored
    noise is that of the first grade, perhaps with other answers. If `is_excluded`, a review
    excludes the run.
    """

    competition: str
    seed: int
    run: str
    submission: str
    score: float
    medal: str | None
    kept: UncertaintyRecord | None
    regrade: str | None = None
    is_excluded: bool = False

    def chance(self, rate: str) -> float | None:
        """The share of resamples that count in a rate; None if it is not known."""
        if self.kept is None or self.kept.medals is None:
            return None
        medals = self.kept.medals
        return 1.0 - medals["none"] if rate == "any_medal" else medals[rate]

    def counts(self, rate: str) -> bool:
        """Whether the score itself counts in a rate."""
        return self.medal is not None if rate == "any_medal" else self.medal == rate


@dataclass(frozen=True, slots=True)
class RateNoise:
    """How many results of a rate are closer to their line than their noise.

    `measured` results have a known noise; for `unmeasured` ones it was not estimated, or cannot be.
    Of the measured results `won` count in the rate. `won_within_noise` of these could as well not
    count, and `lost_within_noise` others could as well count.
    """

    rate: str
    measured: int
    unmeasured: int
    won: int
    won_within_noise: int
    lost_within_noise: int


def final_scores(
    context: Context,
    name: str,
    *,
    competitions: Collection[str] | None = None,
    archived: bool = False,
    basis: Basis = NOW,
) -> list[FinalScore]:
    """The final graded submissions of an experiment's runs, by competition and seed.

    `basis` says which grades count; for an earlier time it has only noise that was known then.

    Raises:
        NotFound: the experiment does not exist.
    """
    experiments.find(context, name)
    with context.database.read() as session:
        runs = [
            run
            for run in results.run_results(
                session, experiments=[name], archived=archived, basis=basis
            )
            if run.final is not None
            and run.score is not None
            and (competitions is None or run.competition in competitions)
        ]
        first = [run.final for run in runs if run.final and run.regrade is None]
        kept = uncertainties.of_submissions(session, first)
    known = {
        submission: one
        for submission, one in kept.items()
        if basis.as_of is None or one.estimated_at <= basis.as_of
    }
    found = [
        FinalScore(
            run.competition, run.seed, run.run, run.final, run.score, run.medal,
            known.get(run.final), run.regrade, run.excluded,
        )
        for run in runs
        if run.final is not None and run.score is not None
    ]  # fmt: skip
    return sorted(found, key=lambda one: (one.competition, one.seed))


def noise_of(context: Context, counted: ResultContext) -> list[RateNoise]:
    """The noise of an experiment's rates, over the results that a statistic counts.

    Empty if the noise of none of its scores was estimated: then it costs one short query.
    """
    name, grid, filters = counted.experiment.name, counted.grid, counted.filters
    basis = filters.basis
    with context.database.read() as session:
        if not uncertainties.is_any_known(session, name, basis.as_of):
            return []
    # Competitions that count as failures have no medals, whatever their scores are.
    slugs = set(grid.competitions).difference(counted.excluded)
    scores = final_scores(context, name, competitions=slugs, archived=filters.archived, basis=basis)
    seeds = set(grid.seeds)
    mine = [one for one in scores if one.seed in seeds]
    return rate_noise(mine, ignores_reviews=filters.ignores_reviews)


def rate_noise(scores: Sequence[FinalScore], *, ignores_reviews: bool = False) -> list[RateNoise]:
    """How many medals of each rate are closer to their line than their noise.

    Runs that a review excludes are in no rate, unless it `ignores_reviews`, so they do not count
    here either.
    """
    counted = [one for one in scores if ignores_reviews or not one.is_excluded]
    return [_of_rate(counted, rate) for rate in RATES]


def _of_rate(scores: Sequence[FinalScore], rate: str) -> RateNoise:
    known = [(one, chance) for one in scores if (chance := one.chance(rate)) is not None]
    won = [chance for one, chance in known if one.counts(rate)]
    lost = [chance for one, chance in known if not one.counts(rate)]
    return RateNoise(
        rate=rate,
        measured=len(known),
        unmeasured=len(scores) - len(known),
        won=len(won),
        won_within_noise=sum(chance <= 1.0 - ONE_ERROR for chance in won),
        lost_within_noise=sum(chance >= ONE_ERROR for chance in lost),
    )


def near_lines(context: Context, medals: Mapping[str, str | None]) -> frozenset[str]:
    """The submissions among these that could as well have won another medal, or none.

    `medals` has the medal of each submission. Submissions whose noise was not estimated are left
    out.
    """
    with context.database.read() as session:
        kept = uncertainties.of_submissions(session, list(medals))
    return frozenset(one for one, found in kept.items() if is_near(medals[one], found.medals))


def is_near(medal: str | None, chances: Mapping[str, float] | None) -> bool:
    """Whether a score with this medal could as well have won another one, or none.

    >>> is_near("gold", {"gold": 0.6, "none": 0.4}), is_near(None, {"none": 0.9})
    (True, False)
    """
    return chances is not None and chances[medal or "none"] <= 1.0 - ONE_ERROR
