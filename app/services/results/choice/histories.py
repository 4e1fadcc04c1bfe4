"""The valid submissions of an experiment's counted runs, in the order in which they were sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.domain.medals import Medal
from app.domain.result_choices import Axis
from app.domain.states import SubmissionState
from app.services.results.inputs.scope import ResultContext, ResultFilter, gathered
from app.services.runtime.context import Context
from app.statistics.efficiency import Usage
from app.statistics.medals_over_time import RunHistory, TimedSubmission
from app.statistics.percentiles import percentile_if_known
from app.storage.queries import results, submissions
from app.storage.queries.regrades.counted_runs import RunResult
from app.storage.queries.results import GradedSubmission
from app.units import HOUR


@dataclass(frozen=True, slots=True)
class MissingResult:
    """A (competition, seed) without a result, and why."""

    competition: str
    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class Histories:
    """The counted runs with their submissions; a run that counts as a failure has none.

    `left_out` counts runs that did not report the usage on the axis.
    """

    context: ResultContext
    runs: list[RunHistory]
    left_out: int

    @property
    def missing(self) -> list[MissingResult]:
        """The attempts without a result, or without times, such as imported ones."""
        return [MissingResult(*each) for each in self.context.missing]


def histories_of(
    context: Context,
    name: str,
    filters: ResultFilter,
    axis: Axis = Axis.HOURS,
    convention: str | None = None,
) -> Histories:
    """The runs that count in medal rates with the same filter, with all their submissions.

    Without a `convention` of percentiles, submissions have none.

    Raises:
        NotFound: the experiment or the suite does not exist.
        AttemptsMissing: results are missing and the padding does not allow it.
        LeaderboardsMissing: a competition has no medals to win.
    """
    found: dict[tuple[str, int], tuple[str, int]] = {}  # the run and its version
    finals: set[str | None] = set()
    rejected: dict[str, str | None] = {}
    sent: dict[str, list[TimedSubmission]] = {}

    def note(run: RunResult) -> None:
        found[run.competition, run.seed] = (run.run, run.version_id)
        finals.add(run.final)
        if run.final_state == SubmissionState.REJECTED:
            rejected[run.run] = run.final

    with context.database.snapshot(), context.database.read() as session:
        count, _ = gathered(context, name, filters, with_imports=False, note=note)
        counted = count(filters)
        scales = {run: _scale(use, axis) for run, use in results.usages(session, name).items()}
        for one in results.graded_submissions(session, name, basis=filters.basis):
            scale = scales[one.run]
            if scale is not None:
                step = _step(one, scale, convention, selected=one.id in finals)
                sent.setdefault(one.run, []).append(step)
        invalid = _sent_at(session, rejected)
    is_higher = {
        version: context.catalogue.of_version(version).competition.metric.higher_is_better
        for version in {version for _, version in found.values()}
    }
    failed = set(counted.excluded)
    missing = {(slug, seed) for slug, seed, _ in counted.missing}
    histories, left_out = [], 0
    for slug, seed in counted.grid.counted_keys:
        if (slug, seed) not in found or (slug, seed) in missing or slug in failed:
            histories.append(RunHistory(slug, seed, True, ()))
            continue
        own, version = found[slug, seed]
        scale = scales[own]
        if scale is None:
            left_out += 1
        else:
            at = invalid.get(own)
            invalid_from = None if at is None else at * scale
            steps = tuple(sent.get(own, ()))
            histories.append(RunHistory(slug, seed, is_higher[version], steps, invalid_from))
    return Histories(counted, histories, left_out)


def _sent_at(session: Session, rejected: Mapping[str, str | None]) -> dict[str, float]:
    """When runs sent the file that they selected, if it was rejected, in seconds of the run.

    An agent that does not see whether files are valid may select such a file, and a regrade may
    reject a selected file.
    """
    found = {}
    for run, selected in rejected.items():
        sent = submissions.get_submission(session, selected or "")
        if sent is not None:
            found[run] = sent[0].run_seconds
    return found


def _step(
    one: GradedSubmission, scale: float, convention: str | None, *, selected: bool
) -> TimedSubmission:
    return TimedSubmission(
        at=one.run_seconds * scale,
        score=one.score,
        public_score=one.public_score,
        medal=None if one.medal is None else Medal(one.medal),
        selected=selected,
        percentile=percentile_if_known(convention, one.better, one.equal, one.worse),
    )


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
