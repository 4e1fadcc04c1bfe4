"""Scores that a trusted harness measured. They are stored with their evidence, not as grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.competition import Competition
from app.domain.states import ArchivalKind, ReportedScoreKind
from app.errors import Conflict
from app.services.auth import Caller, require_researcher
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.services.runtime.run_limits import existing_run
from app.storage.database.records import RunRecord
from app.storage.queries import archive, runs
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.elsewhere import imported_runs, reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.regrades.counted_grades import count_states

MAX_SCORES_PER_RUN = 10_000  # enough for a measurement at each step of a long run


class ScoreContradicts(Conflict):
    """The reported score contradicts the competition's declaration."""


@dataclass(frozen=True, slots=True)
class NewScore:
    """A researcher's report of a measurement.

    `higher_is_better` and `improvement` are the harness's own values. If given, they are checked.
    """

    score: float
    evidence: dict[str, Any]
    final: bool = True
    step: int | None = None
    run_seconds: float | None = None
    higher_is_better: bool | None = None
    improvement: float | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """A reported score and its improvement over the baseline of the run's competition."""

    record: ReportedScoreRecord
    run: RunRecord
    competition_version: int
    improvement: float | None
    success: bool | None


@dataclass(frozen=True, slots=True)
class ExternalInfo:
    """Facts about a run that its agent does not see.

    They are the number of reported scores, the run's origin, its archiving if it is archived, and
    the number of submissions by state.
    """

    reported: int | None
    imported_from: str | None
    archived: ArchivalRecord | None = None
    submissions: dict[str, int] | None = None


def report(
    context: Context, caller: Caller, run_id: str, new: NewScore
) -> tuple[Reported, bool]:  # fmt: skip
    """Store a measured score of an open or closed run, or return an identical existing one.

    The last score marked final is valid: to correct a score, report another one. The first stays
    visible. Also returns whether the score is new.

    Raises:
        Forbidden: the key is a run's. An agent cannot report its own score.
        NotFound: the run does not exist.
        ScoreContradicts: the report contradicts the competition's metric or baseline.
        Conflict: the run has the maximum number of reported scores.
    """
    require_researcher(caller)
    run = find_run(context, run_id)
    refuse_contradictions(context.catalogue.of_version(run.version_id).competition, new)
    record = ReportedScoreRecord(
        run_id=run_id,
        kind=ReportedScoreKind.REPORTED,
        score=new.score,
        step=new.step,
        run_seconds=new.run_seconds,
        final=new.final,
        evidence=new.evidence,
        reported_by=caller.key_id,
        reported_at=datetime.now(UTC),
    )

    def store(session: Session) -> tuple[ReportedScoreRecord, bool]:
        runs.lock_run(session, run_id)
        # Do not read all scores of the run: their evidence may have hundreds of megabytes, and
        # submissions wait for this transaction.
        same = reported_scores.like(session, record)
        if same is not None:
            return same, False
        if reported_scores.counts(session, [run_id]).get(run_id, 0) >= MAX_SCORES_PER_RUN:
            raise Conflict(
                f"Run {run_id} has {MAX_SCORES_PER_RUN:,} reported scores; it can have no more."
            )
        return reported_scores.add(session, record), True

    stored, created = context.database.write(store)
    return _with_improvement(context, run, [stored])[0], created


def page(
    context: Context, run_id: str, after: int | None, limit: int
) -> tuple[list[Reported], int | None]:
    """A page of the scores reported for a run, oldest first, and the next cursor.

    Raises:
        NotFound: the run does not exist.
    """
    run = find_run(context, run_id)
    with context.database.read() as session:
        found = reported_scores.page(session, run_id, after=after, limit=limit + 1)
    shown, cursor = page_of(found, limit, lambda one: one.id)
    return _with_improvement(context, run, shown), cursor


def external_info(
    context: Context, caller: Caller, run_ids: Sequence[str]
) -> dict[str, ExternalInfo]:
    """Each run's data from outside Podium. The keys of runs and harnesses see none of it."""
    if not caller.reads_results:
        return dict.fromkeys(run_ids, ExternalInfo(None, None))
    with context.database.read() as session:
        found = reported_scores.counts(session, run_ids)
        places = imported_runs.places(session, run_ids)
        archived = archive.currents(session, ArchivalKind.RUN, run_ids)
        submissions = count_states(session, run_ids)
    return {
        run_id: ExternalInfo(
            found.get(run_id, 0),
            ": ".join(places.get(run_id, ())) or None,
            archived.get(run_id),
            submissions.get(run_id, {}),
        )
        for run_id in run_ids
    }


def find_run(context: Context, run_id: str) -> RunRecord:
    """The run with this id, for a researcher.

    Raises:
        NotFound: the run does not exist.
    """
    with context.database.read() as session:
        return existing_run(session, run_id)


def refuse_contradictions(competition: Competition, new: NewScore) -> None:
    """Refuse a score that contradicts the competition's metric or baseline.

    Raises:
        ScoreContradicts: gives the reported and the declared values.
    """
    metric = competition.metric
    better = "higher" if metric.higher_is_better else "lower"
    if new.higher_is_better not in (None, metric.higher_is_better):
        reported_direction = "higher" if new.higher_is_better else "lower"
        raise ScoreContradicts(
            f"The report says that {reported_direction} is better; {competition.slug} declares "
            f"that {better} is ({metric.name}). Nothing was stored: check which score was sent."
        )
    refuse_negative(competition, new.score)
    if new.improvement is None:
        return
    comparison = competition.against_baseline(new.score)
    if comparison is None or comparison.improvement is None:
        raise ScoreContradicts(
            f"The report says an improvement of {new.improvement!r}, but {competition.slug} has no "
            "baseline other than 0 to improve on. Nothing was stored: leave the improvement out."
        )
    if not math.isclose(new.improvement, comparison.improvement, rel_tol=1e-6, abs_tol=1e-9):
        raise ScoreContradicts(
            f"The report says an improvement of {new.improvement!r}; the score {new.score!r} is "
            f"one of {comparison.improvement!r}, where {better} is better. Nothing was stored: "
            "check the direction and the baseline of the harness."
        )


def refuse_negative(competition: Competition, score: float) -> None:
    """Refuse a negative score if lower is better, unless the baseline is negative too.

    It may be a negated score, or a value for "no score" such as MLAgentBench's -1.

    Raises:
        ScoreContradicts: the score is negative.
    """
    baseline = competition.baseline
    can_be = competition.metric.higher_is_better or (baseline is not None and baseline.score < 0)
    if score < 0 and not can_be:
        raise ScoreContradicts(
            f"The score {score!r} is negative, and in {competition.slug} lower is better "
            f"({competition.metric.name}): an error, a time or a perplexity is never negative. "
            "Nothing was stored. Report it with its own sign; where there is no score, report none."
        )


def _with_improvement(
    context: Context, run: RunRecord, found: Sequence[ReportedScoreRecord]
) -> list[Reported]:
    entry = context.catalogue.of_version(run.version_id)
    shown = []
    for record in found:
        comparison = entry.competition.against_baseline(record.score)
        improvement = comparison.improvement if comparison else None
        success = comparison.success if comparison else None
        shown.append(Reported(record, run, entry.version.number, improvement, success))
    return shown
