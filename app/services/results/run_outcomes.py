"""What each run of an experiment came to against a baseline: its last score, and its best.

A run's final submission decides where it is graded; scores that were reported or imported decide
only where there is none. Which of them a number rests on is told with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any

from app.domain.baseline import Baseline, judge
from app.domain.states import INFRASTRUCTURE, RunState, SubmissionState
from app.services.experiments import experiments
from app.services.results.attempts import ONLY_REPORTED, OPEN, attempt_of_run
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.statistics.attempts import Attempt
from app.statistics.efficiency import Usage
from app.statistics.trajectory import best_position
from app.storage.database.records import ReportedScoreRecord
from app.storage.queries import competitions, reported_scores, results
from app.storage.queries.reported_scores import final_of
from app.storage.queries.results import ImportedResult, RunResult

GRADED, IMPORTED = "graded", "imported"


class ResultStatus(StrEnum):
    """Whether a run is in the rates."""

    COUNTED = "counted"
    LOST = "lost"  # to infrastructure, which says nothing about the agent
    PENDING = "pending"  # it has no result yet
    NO_BASELINE = "no_baseline"  # nothing is known that it could be held against


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """One run, or one result of a grading report (`run` is None).

    `sort` tells what its final score is: graded, reported or imported; None where it has none.
    `best_score` is the best of the scores of that sort, the final one included, `scores` how many
    they are, and `beside` how many of another sort stand beside them uncounted. Improvements are
    shares of the baseline. `why` says of a pending run what it lacks.
    """

    competition: str
    seed: int
    run: str | None
    standing: ResultStatus
    why: str
    failure: str | None
    is_open: bool
    sort: str | None
    score: float | None
    best_score: float | None
    scores: int
    beside: int
    baseline: Baseline | None
    threshold: float | None
    higher_is_better: bool | None
    improvement: float | None
    success: bool
    best_improvement: float | None
    ever: bool
    spent: Usage


def outcomes_of(
    context: Context,
    name: str,
    threshold: float | None,
    others: Mapping[str, Baseline] | None = None,
) -> list[RunOutcome]:
    """What the experiment's runs came to, by competition and seed.

    The baseline is that of the version a run was made with, else the one in `others`. Without a
    `threshold`, each baseline's own.

    Raises:
        NotFound: no such experiment.
    """
    experiments.find(context, name)
    with context.database.read() as session:
        runs = list(results.run_results(session, experiments=[name]))
        sent = results.sent_results(session, name)
        usages = results.usages(session, name)
        reported = reported_scores.of_runs_in(session, experiment=name)
        imported = results.imported_results(session, experiments=[name])
        slugs = {one.competition for one in imported}
        current = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    entries = {version.slug: context.catalogue.entry(version) for version in current}
    graded: dict[str, list[float]] = {}
    for one in sent:
        graded.setdefault(one.run, []).append(one.score)
    judge_by = _Judge(threshold, others or {})
    found = [
        _of_run(
            judge_by,
            context.catalogue.of_version(run.version_id),
            run,
            graded.get(run.run, []),
            reported.get(run.run, []),
            usages[run.run],
        )
        for run in runs
    ]
    found += [_of_import(judge_by, entries.get(one.competition), one) for one in imported]
    return sorted(found, key=lambda each: (each.competition, each.seed))


def starter_baselines(context: Context, name: str) -> dict[str, Baseline]:
    """Baselines from runs of starter code: by competition, the mean of their final scores.

    Raises:
        NotFound: no such experiment.
    """
    scores: dict[str, list[float]] = {}
    for one in outcomes_of(context, name, None):
        if one.score is not None and one.standing in (
            ResultStatus.COUNTED,
            ResultStatus.NO_BASELINE,
        ):
            scores.setdefault(one.competition, []).append(one.score)
    return {
        slug: Baseline(
            score=fmean(values),
            source=f"mean of {len(values)} runs of the experiment {name}",
        )
        for slug, values in scores.items()
    }


@dataclass(frozen=True, slots=True)
class _Judge:
    threshold: float | None
    others: Mapping[str, Baseline]

    def __call__(
        self, entry: CatalogueEntry | None, slug: str, score: float | None, best: float | None
    ) -> dict[str, Any]:
        """What the final and the best score are worth."""
        declared = entry.competition if entry else None
        baseline = (declared.baseline if declared else None) or self.others.get(slug)
        found: dict[str, Any] = {
            "baseline": baseline, "threshold": None, "improvement": None, "success": False,
            "best_improvement": None, "ever": False,
            "higher_is_better": declared.metric.higher_is_better if declared else None,
        }  # fmt: skip
        if baseline is None or declared is None:
            return {**found, "baseline": None}
        limit = baseline.success_threshold if self.threshold is None else self.threshold
        higher = declared.metric.higher_is_better
        found["threshold"] = limit
        if score is not None:
            judged = judge(score, baseline.score, limit, higher_is_better=higher)
            found |= {"improvement": judged.improvement, "success": judged.success}
        if best is not None:
            judged = judge(best, baseline.score, limit, higher_is_better=higher)
            found |= {"best_improvement": judged.improvement, "ever": judged.success}
        return found


def _of_run(
    judge_by: _Judge,
    entry: CatalogueEntry,
    run: RunResult,
    graded: Sequence[float],
    reported: Sequence[ReportedScoreRecord],
    usage: Mapping[str, Any],
) -> RunOutcome:
    sort, score, why = final_score(run, reported)
    measured = [each.score for each in reported]
    mine = graded if sort == GRADED or (sort is None and graded) else measured
    at = best_position(mine, higher_is_better=entry.competition.metric.higher_is_better)
    judged = judge_by(entry, run.competition, score, None if at is None else mine[at])
    if run.failure in INFRASTRUCTURE:
        standing = ResultStatus.LOST
    elif why:
        standing = ResultStatus.PENDING
    else:
        standing = ResultStatus.COUNTED if judged["baseline"] else ResultStatus.NO_BASELINE
    return RunOutcome(
        competition=run.competition,
        seed=run.seed,
        run=run.run,
        standing=standing,
        why=why,
        failure=run.failure,
        is_open=run.state == RunState.OPEN,
        sort=sort,
        score=score,
        best_score=None if at is None else mine[at],
        scores=len(mine),
        beside=len(graded) + len(measured) - len(mine),
        spent=Usage(**{name: usage.get(name) for name in Usage._fields}),
        **judged,
    )


def final_score(
    run: RunResult, reported: Sequence[ReportedScoreRecord]
) -> tuple[str | None, float | None, str]:
    """The sort and value of a run's final score; or why nothing can be said yet.

    A run that is over without one has (None, None, ""): it failed.
    """
    if run.final_state == SubmissionState.GRADED:
        return GRADED, run.score, ""
    attempt = attempt_of_run(run)
    last = final_of(reported)
    if last is not None and (isinstance(attempt, Attempt) or attempt in (OPEN, ONLY_REPORTED)):
        return last.sort.value, last.score, ""
    if isinstance(attempt, Attempt) or attempt == ONLY_REPORTED:
        return None, None, ""
    return None, None, attempt


def _of_import(judge_by: _Judge, entry: CatalogueEntry | None, one: ImportedResult) -> RunOutcome:
    score = one.score if one.valid else None
    judged = judge_by(entry, one.competition, score, score)
    return RunOutcome(
        competition=one.competition,
        seed=one.seed,
        run=None,
        standing=ResultStatus.COUNTED if judged["baseline"] else ResultStatus.NO_BASELINE,
        why="",
        failure=None,
        is_open=False,
        sort=None if score is None else IMPORTED,
        score=score,
        best_score=score,
        scores=0 if score is None else 1,
        beside=0,
        spent=Usage(),
        **judged,
    )
