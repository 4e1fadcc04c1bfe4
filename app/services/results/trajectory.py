"""A run's scores in their order: the final one against the best, and success at any step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.competition import Competition
from app.services.experiments.reported_scores import find_run
from app.services.results.run_outcomes import GRADED, final_score
from app.services.runtime.context import Context
from app.statistics.trajectory import best_position, best_so_far
from app.storage.database.records import ReportedScoreRecord, RunRecord
from app.storage.queries import reported_scores, results
from app.storage.queries.results import SentResult


@dataclass(frozen=True, slots=True)
class Step:
    """One score: a graded submission, or one that was measured outside (then it has an id).

    `best_so_far` is among graded scores for a graded one, among the others for another.
    """

    sort: str
    submission: str | None
    reported_score: int | None
    step: int | None
    run_seconds: float | None
    score: float
    best_so_far: float
    improvement: float | None
    success: bool | None
    final: bool


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A run's steps; the summary is of those that are of the same kind as the final score."""

    run: RunRecord
    competition: Competition
    threshold: float | None
    sort: str | None
    pending: str
    steps: tuple[Step, ...]
    final: Step | None
    best: Step | None
    first_success: Step | None


def trajectory(context: Context, run_id: str, threshold: float | None) -> Trajectory:
    """The run's trajectory. Without a `threshold`, successes are by the baseline's own.

    Graded submissions come in the order they were sent, then reported scores by their step and
    time; the two are never put into one curve.

    Raises:
        NotFound: there is no such run.
    """
    run = find_run(context, run_id)
    with context.database.read() as session:
        found = list(results.run_results(session, run=run_id))
        sent = results.sent_results(session, run.experiment, run=run_id)
        reported = reported_scores.of_run(session, run_id)
    (result,) = found
    competition = context.catalogue.of_version(run.version_id).competition
    sort, _, pending = final_score(result, reported)
    last = reported_scores.final_of(reported)
    measured = sorted(reported, key=_moment)
    judged = _Judged(competition, threshold)
    graded = judged([_graded(one, result.final) for one in sent])
    others = judged([_measured(one, is_final=one is last) for one in measured])
    mine = graded if sort == GRADED or (sort is None and graded) else others
    at = best_position([s.score for s in mine], higher_is_better=judged.higher_is_better)
    baseline = competition.baseline
    return Trajectory(
        run=run,
        competition=competition,
        threshold=threshold if threshold or not baseline else baseline.success_threshold,
        sort=sort,
        pending=pending,
        steps=(*graded, *others),
        final=next((each for each in mine if each.final), None) if sort else None,
        best=None if at is None else mine[at],
        first_success=next((each for each in mine if each.success), None),
    )


class _Judged:
    """Steps of one kind, each with what it is worth and the best one so far."""

    def __init__(self, competition: Competition, threshold: float | None) -> None:
        self._competition = competition
        self._threshold = threshold
        self.higher_is_better = competition.metric.higher_is_better

    def __call__(self, steps: Sequence[Step]) -> list[Step]:
        scores = [each.score for each in steps]
        best = best_so_far(scores, higher_is_better=self.higher_is_better)
        found = []
        for each, top in zip(steps, best, strict=True):
            judged = self._competition.against_baseline(each.score, self._threshold)
            found.append(
                replace(
                    each,
                    best_so_far=top,
                    improvement=judged.improvement if judged else None,
                    success=judged.success if judged else None,
                )
            )
        return found


def _moment(one: ReportedScoreRecord) -> tuple[float, float, int]:
    """By step, then by time; what says neither comes last, in the order it was reported."""
    never = float("inf")
    return (
        never if one.step is None else one.step,
        never if one.run_seconds is None else one.run_seconds,
        one.id or 0,
    )


def _graded(one: SentResult, final: str | None) -> Step:
    return Step(
        sort=GRADED,
        submission=one.id,
        reported_score=None,
        step=None,
        run_seconds=one.run_seconds,
        score=one.score,
        best_so_far=one.score,
        improvement=None,
        success=None,
        final=one.id == final,
    )


def _measured(one: ReportedScoreRecord, *, is_final: bool) -> Step:
    return Step(
        sort=one.sort.value,
        submission=None,
        reported_score=one.id,
        step=one.step,
        run_seconds=one.run_seconds,
        score=one.score,
        best_so_far=one.score,
        improvement=None,
        success=None,
        final=is_final,
    )
