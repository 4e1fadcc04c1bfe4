"""The valid submissions of an experiment's counted runs, in the order they were sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from app.domain.medals import Medal
from app.domain.result_choices import Axis
from app.domain.states import SubmissionState
from app.services.results.inputs.scope import ResultContext, ResultFilter, result_context
from app.services.runtime.context import Context
from app.statistics.efficiency import Usage
from app.statistics.medals_over_time import RunHistory, TimedSubmission
from app.statistics.percentiles import percentile
from app.storage.queries import results, submissions
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.results import GradedSubmission
from app.units import HOUR

DEFAULT_CONVENTION = "mid-rank"


@dataclass(frozen=True, slots=True)
class MissingResult:
    """A (competition, seed) without a result, and why."""

    competition: str
    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class Histories:
    """The counted runs with their submissions; a run that counts as a failure has none.

    `left_out` counted runs did not report what the axis shows.
    """

    context: ResultContext
    runs: list[RunHistory]
    left_out: int

    @property
    def missing(self) -> list[MissingResult]:
        """The attempts without a result, or without times as imported ones."""
        return [MissingResult(*each) for each in self.context.missing]


def histories_of(
    context: Context,
    name: str,
    filters: ResultFilter,
    axis: Axis = Axis.HOURS,
    convention: str = DEFAULT_CONVENTION,
) -> Histories:
    """The runs that count in medal rates with the same filter, with all their submissions.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
    """
    with context.database.snapshot(), context.database.read() as session:
        counted, _ = result_context(context, name, filters, with_imports=False)
        runs = list(
            results.run_results(
                session, experiments=[name], archived=filters.archived, basis=filters.basis
            )
        )
        sent = results.graded_submissions(session, name, basis=filters.basis)
        usages = results.usages(session, name)
        invalid = _invalid_finals(session, runs)
    found = {(run.competition, run.seed): run for run in runs}
    by_run: dict[str, list[GradedSubmission]] = {}
    for one in sent:
        by_run.setdefault(one.run, []).append(one)
    failed = set(counted.excluded)
    missing = {(slug, seed) for slug, seed, _ in counted.missing}
    histories, left_out = [], 0
    for slug, seed in counted.grid.counted_keys:
        run = found.get((slug, seed))
        if run is None or (slug, seed) in missing or slug in failed:
            histories.append(RunHistory(slug, seed, True, ()))
            continue
        scale = _scale(usages[run.run], axis)
        if scale is None:
            left_out += 1
        else:
            mine = by_run.get(run.run, [])
            history = _run_history(context, run, mine, scale, convention)
            at = invalid.get(run.run)
            histories.append(replace(history, invalid_from=None if at is None else at * scale))
    return Histories(counted, histories, left_out)


def _invalid_finals(session: Session, runs: Sequence[RunResult]) -> dict[str, float]:
    """When the runs that selected a file that was rejected sent it, in seconds from their start.

    An agent that is not told whether files are valid may select such a file, and a regrade may
    reject one.
    """
    found = {}
    for run in runs:
        if run.final is not None and run.final_state == SubmissionState.REJECTED:
            sent = submissions.get_submission(session, run.final)
            if sent is not None:
                found[run.run] = sent[0].run_seconds
    return found


def _run_history(
    context: Context, run: RunResult, sent: list[GradedSubmission], scale: float, convention: str
) -> RunHistory:
    entry = context.catalogue.of_version(run.version_id)
    steps = tuple(
        TimedSubmission(
            at=one.run_seconds * scale,
            score=one.score,
            public_score=one.public_score,
            medal=None if one.medal is None else Medal(one.medal),
            selected=one.id == run.final,
            percentile=_percentile(one, convention),
        )
        for one in sent
    )
    return RunHistory(run.competition, run.seed, entry.competition.metric.higher_is_better, steps)


def _percentile(one: GradedSubmission, convention: str) -> float | None:
    if one.better is None or one.equal is None or one.worse is None:
        return None
    return percentile(convention, one.better, one.equal, one.worse)


def _scale(usage: Mapping[str, Any], axis: Axis) -> float | None:
    """The usage per second of the run, in units of the axis; None if it is not known."""
    if axis is Axis.HOURS:
        return 1 / HOUR
    seconds = usage.get("seconds")
    if axis is Axis.DOLLARS:
        amount = usage.get("cost_usd")
    else:
        amount = Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")).tokens
    return amount / seconds if seconds and amount is not None else None
