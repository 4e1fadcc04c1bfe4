"""A run's scores in order: the final score, the best score, and the first success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.competition import Competition
from app.services.experiments.reported_scores import find_run
from app.services.results.run_outcomes import GRADED, final_score
from app.services.runtime.context import Context
from app.statistics.trajectory import best_position, best_so_far
from app.storage.database.records import RunRecord
from app.storage.queries import results
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.results import GradedSubmission


@dataclass(frozen=True, slots=True)
class Step:
    """One score, of a graded submission or from a harness. `reported_score` is the latter's id.

    `best_so_far` compares graded scores only with graded ones, and reported with reported ones.
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
    """A run's steps. `best` and `first_success` are of the same kind as the final score."""

    run: RunRecord
    competition: Competition
    threshold: float | None
    kind: str | None
    pending: str
    steps: tuple[Step, ...]
    final: Step | None
    best: Step | None
    first_success: Step | None


def trajectory(context: Context, run_id: str, threshold: float | None) -> Trajectory:
    """The run's trajectory. Without a `threshold`, the baseline's own threshold makes a success.

    Graded submissions come first, in the order in which they were received, then reported scores
    by step and time. The two are separate curves.

    Raises:
        NotFound: the run does not exist.
    """
    run = find_run(context, run_id)
    with context.database.read() as session:
        found = list(results.run_results(session, run=run_id))
        sent = list(results.graded_submissions(session, run.experiment, run=run_id))
        reported = reported_scores.of_run(session, run_id)
    (result,) = found
    competition = context.catalogue.of_version(result.version_id).competition
    kind, _, pending = final_score(result, reported)
    last = reported_scores.final_of(reported)
    measured = sorted(reported, key=_step_order)
    with_baseline = _BaselineComparison(competition, threshold)
    graded = with_baseline([_graded(one, result.final) for one in sent])
    others = with_baseline([_measured(one, is_final=one is last) for one in measured])
    own = graded if kind == GRADED or (kind is None and graded) else others
    at = best_position([s.score for s in own], higher_is_better=with_baseline.higher_is_better)
    baseline = competition.baseline
    return Trajectory(
        run=run,
        competition=competition,
        threshold=baseline.success_threshold if threshold is None and baseline else threshold,
        kind=kind,
        pending=pending,
        steps=(*graded, *others),
        final=next((each for each in own if each.final), None) if kind else None,
        best=None if at is None else own[at],
        first_success=next((each for each in own if each.success), None),
    )


class _BaselineComparison:
    """Adds to steps of one kind their improvement over the baseline and the best score so far."""

    def __init__(self, competition: Competition, threshold: float | None) -> None:
        self._competition = competition
        self._threshold = threshold
        self.higher_is_better = competition.metric.higher_is_better

    def __call__(self, steps: Sequence[Step]) -> list[Step]:
        scores = [each.score for each in steps]
        best = best_so_far(scores, higher_is_better=self.higher_is_better)
        found = []
        for each, best_score in zip(steps, best, strict=True):
            with_baseline = self._competition.against_baseline(each.score, self._threshold)
            found.append(
                replace(
                    each,
                    best_so_far=best_score,
                    improvement=with_baseline.improvement if with_baseline else None,
                    success=with_baseline.success if with_baseline else None,
                )
            )
        return found


def _step_order(one: ReportedScoreRecord) -> tuple[float, float, int]:
    """The sort key: step, then time; scores with neither come last, in the order of reports."""
    never = float("inf")
    return (
        never if one.step is None else one.step,
        never if one.run_seconds is None else one.run_seconds,
        one.id or 0,
    )


def _graded(one: GradedSubmission, final: str | None) -> Step:
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
        sort=one.kind.value,
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
