"""The score of each attempt on a scale that competitions share."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.leaderboard import Leaderboard
from app.services.results.inputs.attempts import attempt_of_import, attempt_of_run
from app.services.results.inputs.scope import ResultContext
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt
from app.statistics.percentiles import (
    GAP_CLOSED,
    PERCENTILE,
    SAMPLE_TO_GOLD,
    between_sample_and_gold,
    percentile_if_known,
    performance_gap_closed,
)
from app.storage.queries import competitions, results

NO_VALUE = {
    PERCENTILE: "its score has no place: only medal lines of the leaderboard are here",
    SAMPLE_TO_GOLD: "the competition has no gold line that is better than a known score of its "
    "sample submission",
    GAP_CLOSED: "the competition has no baseline that is worse than the best team of a full "
    "leaderboard",
}
REMEDY = {
    PERCENTILE: "Import the full leaderboard",
    SAMPLE_TO_GOLD: "Import the competition with its data again",
    GAP_CLOSED: "Import the full leaderboard and state a [baseline]",
}
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Places scores of a competition version on a scale."""

    scale: str
    convention: str | None
    entry: CatalogueEntry
    sample: float | None

    def of(self, score: float, counts: tuple[int | None, int | None, int | None]) -> float | None:
        """The score on the scale; None if it has none.

        `counts` are the numbers of teams that are better, equal and worse; None if they are not
        known.
        """
        board = self.entry.leaderboard
        if self.scale == PERCENTILE:
            return percentile_if_known(self.convention, *counts)
        if board is None:
            return None
        if self.scale == SAMPLE_TO_GOLD:
            span = _span(board, self.sample, board.lines.gold)
            return span and between_sample_and_gold(score, *span)
        declared = self.entry.competition.baseline
        best = board.scores[0] if board.scores else None
        span = _span(board, None if declared is None else declared.score, best)
        return span and performance_gap_closed(score, *span)


def values(
    context: Context, counted: ResultContext, scale: str, convention: str | None
) -> dict[Key, float]:
    """The score of each attempt that has one: 0 without a valid submission.

    A run's score is placed on the scale of the version that graded it, an imported score on that of
    the current version.
    """
    name, archived = counted.experiment.name, counted.filters.archived
    wanted, basis = set(counted.grid.competitions), counted.filters.basis
    with context.database.read() as session:
        runs = list(
            results.run_results(session, experiments=[name], archived=archived, basis=basis)
        )
        imported = results.imported_results(
            session, experiments=[name], archived=archived, as_of=basis.as_of
        )
        versions = competitions.list_current(
            session, slugs=wanted, limit=len(wanted), as_of=basis.as_of
        )
        numbers = {run.version_id for run in runs} | {version.id for version in versions}
        samples = competitions.sample_scores(session, numbers, basis.as_of)

    def measure(entry: CatalogueEntry) -> ScoreScale:
        return ScoreScale(scale, convention, entry, samples.get(entry.version.id))

    found: dict[Key, float | None] = {}
    for run in runs:
        if run.excluded and not counted.filters.ignores_reviews:
            continue
        attempt = attempt_of_run(run._replace(excluded=False))
        if isinstance(attempt, Attempt) and not attempt.valid:
            found[run.competition, run.seed] = 0.0
        elif run.score is not None:
            by = measure(context.catalogue.of_version(run.version_id))
            found[run.competition, run.seed] = by.of(run.score, (run.better, run.equal, run.worse))
    current = {version.slug: measure(context.catalogue.entry(version)) for version in versions}
    for one in imported:
        now = current.get(one.competition)
        if not attempt_of_import(one).valid:
            found[one.competition, one.seed] = 0.0
        elif one.score is not None and now is not None and now.entry.leaderboard is not None:
            place = now.entry.leaderboard.standing(one.score)
            counts = (place.better, place.equal, place.worse)
            found[one.competition, one.seed] = now.of(one.score, counts)
    return {key: value for key, value in found.items() if value is not None}


def _span(
    board: Leaderboard, worse: float | None, better: float | None
) -> tuple[float, float] | None:
    """Two scores; None if one is not known, or the first is not worse than the second."""
    if worse is None or better is None or board.reaches(worse, better):
        return None
    return worse, better
