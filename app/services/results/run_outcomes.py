"""Compare each run of an experiment with a baseline: its final score and its best score.

The final score is the grade of the final submission. Only a run without one uses its reported or
imported scores. Each outcome names the kind of its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import fsum
from statistics import fmean
from typing import Any

from app.domain.baseline import Baseline
from app.domain.states import INFRASTRUCTURE, RunState, SubmissionState
from app.domain.wording import counted
from app.services.experiments import experiments
from app.services.results.baseline_comparison import BaselineComparison
from app.services.results.inputs.attempts import EXCLUDED, ONLY_REPORTED, OPEN, attempt_of_run
from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.statistics.attempt_columns import Attempt
from app.statistics.efficiency import Usage
from app.statistics.trajectory import best_position
from app.storage.queries import competitions, results
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord, final_of
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.results import ImportedResult

GRADED, IMPORTED = "graded", "imported"


class ResultStatus(StrEnum):
    """Whether a run counts in the rates, or why not."""

    COUNTED = "counted"
    LOST = "lost"  # lost to infrastructure, not by the agent
    PENDING = "pending"  # it has no result yet
    NO_BASELINE = "no_baseline"  # no baseline is known for its competition


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """One run, or one result of a grading report (`run` is None).

    `kind` is the kind of its final score: graded, reported or imported; None if it has no score.
    `best_score` is the best score of that kind, the final one included, and `scores` is the number
    of these scores. `other_scores` is the number of scores of other kinds, which do not count.
    Improvements are shares of the baseline. `reason` is the reason why a run is pending.
    """

    competition: str
    seed: int
    run: str | None
    status: ResultStatus
    reason: str
    failure: str | None
    is_open: bool
    kind: str | None
    score: float | None
    best_score: float | None
    scores: int
    other_scores: int
    baseline: Baseline | None
    threshold: float | None
    higher_is_better: bool | None
    improvement: float | None
    success: bool
    best_improvement: float | None
    ever: bool
    usage: Usage
    medal: str | None = None
    above_median: bool | None = None
    better: int | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    closed_at: datetime | None = None


def outcomes_of(
    context: Context,
    name: str,
    threshold: float | None,
    others: Mapping[str, Baseline] | None = None,
    *,
    archived: bool = False,
) -> list[RunOutcome]:
    """The outcomes of the experiment's runs, by competition and seed.

    The baseline is declared by the version of the run, or else given in `others`. Without a
    `threshold`, each baseline has its own. Archived runs are there only with `archived`.

    Raises:
        NotFound: the experiment does not exist.
    """
    experiments.find(context, name)
    with context.database.read() as session:
        runs = list(results.run_results(session, experiments=[name], archived=archived))
        graded: dict[str, list[float]] = {}
        for sent in results.graded_submissions(session, name):
            graded.setdefault(sent.run, []).append(sent.score)
        usages = results.usages(session, name)
        reported = reported_scores.of_runs_in(session, experiment=name)
        imported = results.imported_results(session, experiments=[name], archived=archived)
        slugs = {one.competition for one in imported}
        current = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    entries = {version.slug: context.catalogue.entry(version) for version in current}
    compare = BaselineComparison(threshold, others or {})
    found = [
        _of_run(
            compare,
            context.catalogue.of_version(run.version_id),
            run,
            graded.get(run.run, []),
            reported.get(run.run, []),
            usages[run.run],
        )
        for run in (each.shown for each in runs)
    ]
    found += [_of_import(compare, entries.get(one.competition), one) for one in imported]
    return sorted(found, key=lambda each: (each.competition, each.seed))


def starter_baselines(context: Context, name: str) -> dict[str, Baseline]:
    """Baselines from runs of starter code: the mean of their final scores, by competition.

    Raises:
        NotFound: the experiment does not exist.
    """
    scores: dict[str, list[float]] = {}
    for one in outcomes_of(context, name, None):
        if one.score is not None and one.status in (
            ResultStatus.COUNTED,
            ResultStatus.NO_BASELINE,
        ):
            scores.setdefault(one.competition, []).append(one.score)
    return {
        slug: Baseline(
            score=_mean(values),
            source=f"mean of {counted(len(values), 'run')} of the experiment {name}",
        )
        for slug, values in scores.items()
    }


def _mean(scores: Sequence[float]) -> float:
    try:
        return fmean(scores)
    except OverflowError:  # the sum of very large scores is beyond all floats
        return fsum(score / len(scores) for score in scores)


def _of_run(
    compare: BaselineComparison,
    entry: CatalogueEntry,
    run: RunResult,
    graded: Sequence[float],
    reported: Sequence[ReportedScoreRecord],
    usage: Mapping[str, Any],
) -> RunOutcome:
    kind, score, reason = final_score(run, reported)
    if run.excluded:  # nor is any other of its scores shown
        graded, reported = (), ()
    measured = [each.score for each in reported]
    own = graded if kind == GRADED or (kind is None and graded) else measured
    at = best_position(own, higher_is_better=entry.competition.metric.higher_is_better)
    comparison = compare(entry, run.competition, score, None if at is None else own[at])
    if run.failure in INFRASTRUCTURE:
        status = ResultStatus.LOST
    elif reason:
        status = ResultStatus.PENDING
    else:
        status = ResultStatus.COUNTED if comparison["baseline"] else ResultStatus.NO_BASELINE
    return RunOutcome(
        competition=run.competition,
        seed=run.seed,
        run=run.run,
        status=status,
        reason=reason,
        failure=run.failure,
        is_open=run.state == RunState.OPEN,
        kind=kind,
        score=score,
        best_score=None if at is None else own[at],
        scores=len(own),
        other_scores=len(graded) + len(measured) - len(own),
        usage=Usage(**{name: usage.get(name) for name in Usage._fields}),
        medal=run.medal,
        above_median=run.above_median,
        better=run.better,
        created_at=run.created_at,
        started_at=run.started_at,
        closed_at=run.closed_at,
        **comparison,
    )


def final_score(
    run: RunResult, reported: Sequence[ReportedScoreRecord]
) -> tuple[str | None, float | None, str]:
    """The kind and value of a run's final score, or the reason why it is pending.

    A run that ended without a score gives (None, None, ""): it failed.
    """
    if run.excluded:
        return None, None, EXCLUDED
    if run.final_state == SubmissionState.GRADED:
        return GRADED, run.score, ""
    attempt = attempt_of_run(run)
    last = final_of(reported)
    if last is not None and (isinstance(attempt, Attempt) or attempt in (OPEN, ONLY_REPORTED)):
        return last.kind.value, last.score, ""
    if isinstance(attempt, Attempt) or attempt == ONLY_REPORTED:
        return None, None, ""
    return None, None, attempt


def _of_import(
    compare: BaselineComparison, entry: CatalogueEntry | None, one: ImportedResult
) -> RunOutcome:
    score = one.score if one.valid else None
    comparison = compare(entry, one.competition, score, score)
    return RunOutcome(
        competition=one.competition,
        seed=one.seed,
        run=None,
        status=ResultStatus.COUNTED if comparison["baseline"] else ResultStatus.NO_BASELINE,
        reason="",
        failure=None,
        is_open=False,
        kind=None if score is None else IMPORTED,
        score=score,
        best_score=score,
        scores=0 if score is None else 1,
        other_scores=0,
        usage=Usage(),
        medal=one.medal,
        above_median=one.above_median,
        **comparison,
    )
