"""Scores that a trusted harness measured: kept with their evidence, and never among grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.competition import Competition
from app.domain.states import ReportedScoreKind
from app.errors import Conflict, ScoreContradicts
from app.services.auth import Caller, require_researcher
from app.services.runtime.context import Context
from app.services.runtime.run_limits import no_run
from app.storage.database.records import ReportedScoreRecord, RunRecord
from app.storage.queries import imported_runs, reported_scores, runs

MOST = 10_000  # scores of one run; a measurement at each step of a long one fits


@dataclass(frozen=True, slots=True)
class NewScore:
    """What a researcher says of a measurement.

    `higher_is_better` and `improvement` are what the harness holds to be true of it; where they are
    said they are checked.
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
    """A reported score, and what it is worth against the baseline of the run's competition."""

    record: ReportedScoreRecord
    run: RunRecord
    competition_version: int
    improvement: float | None
    success: bool | None


@dataclass(frozen=True, slots=True)
class ExternalInfo:
    """What there is of a run that Podium did not make: reported scores, and where it is from."""

    reported: int | None
    imported_from: str | None


def report(
    context: Context, caller: Caller, run_id: str, new: NewScore
) -> tuple[Reported, bool]:  # fmt: skip
    """Keep a measured score of a run, open or closed; the same again is the one that is there.

    Of scores marked final the last one stands: a correction is another report, and the first
    stays to be seen. Says whether it is new.

    Raises:
        Forbidden: the key is a run's: an agent cannot report its own score.
        NotFound: there is no such run.
        ScoreContradicts: the score, or what is said of it, is not of this competition's direction.
        Conflict: the run has as many reported scores as it may.
    """
    require_researcher(caller)
    run = find_run(context, run_id)
    refuse_contradictions(context.catalogue.of_version(run.version_id).competition, new)
    record = ReportedScoreRecord(
        run_id=run_id,
        sort=ReportedScoreKind.REPORTED,
        score=new.score,
        step=new.step,
        run_seconds=new.run_seconds,
        final=new.final,
        evidence=new.evidence,
        reported_by=caller.key_id,
        reported_at=datetime.now(UTC),
    )

    def keep(session: Session) -> tuple[ReportedScoreRecord, bool]:
        runs.lock_run(session, run_id)
        known = reported_scores.of_run(session, run_id)
        same = next((each for each in known if _says(each) == _says(record)), None)
        if same is not None:
            return same, False
        if len(known) >= MOST:
            raise Conflict(f"Run {run_id} has {MOST:,} reported scores; it can have no more.")
        return reported_scores.add(session, record), True

    kept, created = context.database.write(keep)
    return _shown(context, run, [kept])[0], created


def page(
    context: Context, run_id: str, after: int | None, limit: int
) -> tuple[list[Reported], int | None]:
    """The scores reported of a run, in the order they came, and the next cursor.

    Raises:
        NotFound: there is no such run.
    """
    run = find_run(context, run_id)
    with context.database.read() as session:
        found = reported_scores.page(session, run_id, after=after, limit=limit + 1)
    shown = _shown(context, run, found[:limit])
    return shown, found[limit - 1].id if len(found) > limit else None


def external_info(
    context: Context, caller: Caller, run_ids: Sequence[str]
) -> dict[str, ExternalInfo]:
    """What there is of each run from outside Podium; a run's key is not told."""
    if caller.is_run:
        return dict.fromkeys(run_ids, ExternalInfo(None, None))
    with context.database.read() as session:
        found = reported_scores.counts(session, run_ids)
        places = imported_runs.places(session, run_ids)
    return {
        run_id: ExternalInfo(found.get(run_id, 0), ": ".join(places.get(run_id, ())) or None)
        for run_id in run_ids
    }


def find_run(context: Context, run_id: str) -> RunRecord:
    """The run of that id, for a researcher.

    Raises:
        NotFound: there is none.
    """
    with context.database.read() as session:
        run = runs.get_run(session, run_id)
    if run is None:
        raise no_run(run_id)
    return run


def refuse_contradictions(competition: Competition, new: NewScore) -> None:
    """Refuse a score that is not of the competition's direction.

    Raises:
        ScoreContradicts: with what was said and what the competition declares.
    """
    metric = competition.metric
    better = "higher" if metric.higher_is_better else "lower"
    if new.higher_is_better not in (None, metric.higher_is_better):
        said = "higher" if new.higher_is_better else "lower"
        raise ScoreContradicts(
            f"The report says that {said} is better; {competition.slug} declares that {better} is "
            f"({metric.name}). Nothing was stored: check which score was sent."
        )
    refuse_negative(competition, new.score)
    if new.improvement is None:
        return
    judged = competition.against_baseline(new.score)
    if judged is None or judged.improvement is None:
        raise ScoreContradicts(
            f"The report says an improvement of {new.improvement!r}, but {competition.slug} has no "
            "baseline other than 0 to improve on. Nothing was stored: leave the improvement out."
        )
    if not math.isclose(new.improvement, judged.improvement, rel_tol=1e-6, abs_tol=1e-9):
        raise ScoreContradicts(
            f"The report says an improvement of {new.improvement!r}; the score {new.score!r} is "
            f"one of {judged.improvement!r}, where {better} is better. Nothing was stored: check "
            "the direction and the baseline of the harness."
        )


def refuse_negative(competition: Competition, score: float) -> None:
    """Refuse a negative error: negated, or a mark for "no score" such as MLAgentBench's -1.

    Where the baseline is negative itself, errors can be.

    Raises:
        ScoreContradicts: the score is one.
    """
    baseline = competition.baseline
    can_be = competition.metric.higher_is_better or (baseline is not None and baseline.score < 0)
    if score < 0 and not can_be:
        raise ScoreContradicts(
            f"The score {score!r} is negative, and in {competition.slug} lower is better "
            f"({competition.metric.name}): an error, a time or a perplexity is never negative. "
            "Nothing was stored. Report it with its own sign; where there is no score, report none."
        )


def _says(record: ReportedScoreRecord) -> tuple[object, ...]:
    return record.score, record.step, record.run_seconds, record.final, record.evidence


def _shown(
    context: Context, run: RunRecord, found: Sequence[ReportedScoreRecord]
) -> list[Reported]:
    entry = context.catalogue.of_version(run.version_id)
    shown = []
    for record in found:
        judged = entry.competition.against_baseline(record.score)
        improvement = judged.improvement if judged else None
        success = judged.success if judged else None
        shown.append(Reported(record, run, entry.version.number, improvement, success))
    return shown
