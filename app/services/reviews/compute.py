"""Compute the signals of submissions that were graded since the last time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from cachetools import LRUCache
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.errors import PodiumError, StorageFull, Unavailable
from app.logs import log_outage
from app.prometheus_metrics import REVIEW_SECONDS, REVIEWED
from app.review.likeness import PROBES, cells_of, is_constant, probes
from app.review.scores import ScoredSubmission, score_signals
from app.review.signals import Finding, Level, Signal
from app.services.public_log.append import locked_moment
from app.services.public_log.signers import MICROSECOND
from app.services.reviews.near_files import NearFiles, Turn
from app.services.reviews.versions import Stopped, VersionFacts, version_facts
from app.services.runtime.context import Context
from app.storage.queries.reviews import decisions, known_leaks, signals, sketches
from app.storage.queries.reviews.equal_predictions import (
    SimilarFile,
    with_repeated_predictions,
    with_same_predictions,
)
from app.storage.queries.reviews.signals import SignalRecord
from app.storage.queries.reviews.sketches import FileCells, GradedFile

SUBMISSIONS_PER_TURN = 100  # whose signals one turn computes
PASSED_OVER_SECONDS = 60.0  # before an unreadable version is tried again
COMPARED = 40  # the number of a run's latest submissions that are compared
log = logging.getLogger("podium.reviews")
Found = tuple[Finding, str | None]  # a signal, and the run that the submission resembles


@dataclass
class Reviewer:
    """Computes signals, and caches versions and their files. Use it in one thread only."""

    context: Context
    stopping: threading.Event
    _near: NearFiles = field(default_factory=NearFiles)
    _versions: LRUCache[int, VersionFacts] = field(default_factory=lambda: LRUCache(128))
    _passed_over: dict[int, float] = field(default_factory=dict)  # version: until when
    _losses: int = 0  # the database's losses when these caches were filled

    def turn(self) -> int:
        """Compute the signals of up to 100 submissions. Returns the number of submissions.

        A version whose files are damaged, or cannot be read at the moment, waits for a minute.
        """
        started = time.thread_time()
        self._passed_over = {
            version: until
            for version, until in self._passed_over.items()
            if time.monotonic() < until
        }
        database = self.context.database
        if database.losses != self._losses:  # a standby may reuse their ids
            self._losses = database.losses
            self._near, self._passed_over = NearFiles(), {}
            self._versions.clear()
        with database.read() as session:
            versions = sketches.versions_waiting(
                session, SUBMISSIONS_PER_TURN, passed_over=self._passed_over
            )
        if not versions:
            return 0
        facts = {version: self.facts_of(version) for version in versions}
        known = {version: its for version, its in facts.items() if its is not None}
        at = datetime.now(UTC)
        found: list[SignalRecord] = []
        with database.read() as session:
            last = sketches.last_review(session)
            # Read again in this session: other processes may have reviewed some, or committed one
            # late.
            waiting = [one for one in self._waiting(session) if one.version_id in known]
            probed = signals.runs_with(session, {one.run for one in waiting}, Signal.PROBING)
            turn = Turn(waiting, last, probed, with_repeated_predictions(session, waiting))
            for one in waiting:
                its = known[one.version_id]
                for finding, other in self.signals_or_none(session, one, its, turn):
                    found.append(_record(one, finding, other, at))

        def write(session: Session) -> bool:
            now = locked_moment(session)
            if sketches.last_review(session) != last:
                return False  # files of another server were not compared with these: try again
            add_signals(session, [*_leaked(session, waiting, at), *found])
            moment = max(now, last + MICROSECOND)
            sketches.set_reviewed(session, [one.submission for one in waiting], moment)
            return True

        if database.write(write):
            REVIEWED.inc(len(waiting))
        REVIEW_SECONDS.inc(time.thread_time() - started)
        return sum(versions.values())

    def _waiting(self, session: Session) -> list[GradedFile]:
        return sketches.not_reviewed(session, SUBMISSIONS_PER_TURN, passed_over=self._passed_over)

    def facts_of(self, version_id: int) -> VersionFacts | None:
        """A version's facts; None if they cannot be read now: other versions must not wait."""
        known = self._versions.get(version_id)
        if known is None:
            try:
                known = version_facts(self.context, version_id, self.stopping)
            except Stopped:
                raise
            except Exception as error:
                waits = "signals of a version have to wait"
                if isinstance(error, Unavailable | StorageFull):
                    log_outage(log, waits, error, version=version_id)
                else:
                    log.exception(waits, extra={"version": version_id})
                self._passed_over[version_id] = time.monotonic() + PASSED_OVER_SECONDS
                return None
            self._versions[version_id] = known
        return known

    def signals_or_none(
        self, session: Session, one: GradedFile, facts: VersionFacts, turn: Turn
    ) -> list[Found]:
        """The signals of a submission; none if an error occurs, which must not stop the others."""
        try:
            return list(self._signals(session, one, facts, turn))
        except (PodiumError, SQLAlchemyError, MemoryError):
            raise  # this says nothing about the submission
        except Exception:
            log.exception("cannot compute signals", extra={"submission": one.submission})
            return []

    def _signals(
        self, session: Session, one: GradedFile, facts: VersionFacts, turn: Turn
    ) -> Iterator[Found]:
        scored = ScoredSubmission(
            one.score, one.public_score, one.run_seconds, facts.higher_is_better, facts.bound,
            facts.board,
        )  # fmt: skip
        yield from ((finding, None) for finding in score_signals(scored))
        if one.digest == facts.sample_digest:
            yield Finding(Signal.SAMPLE_SUBMISSION, Level.ANNOTATE), None
        else:
            yield from self._likeness(session, one, turn)
        probing = None if one.run in turn.probed else _probing(session, one)
        if probing is not None:
            yield probing, None

    def _likeness(self, session: Session, one: GradedFile, turn: Turn) -> Iterator[Found]:
        """At most one signal: for the first equal file, else for the nearest file."""
        is_repeated = one.number in turn.repeated
        same = with_same_predictions(session, one, SUBMISSIONS_PER_TURN) if is_repeated else []
        copies = [other for other in same if other.sha256 == one.sha256]
        if copies or same:
            kind = Signal.SAME_FILE if copies else Signal.SAME_PREDICTIONS
            first = (copies or same)[0]
            yield _like(kind, one, first, 1.0), first.run
            return
        cells = cells_of(one.sketch)
        near = None if cells is None else self._near.nearest(session, one, cells, turn)
        if near is not None:
            yield _like(Signal.SAME_PREDICTIONS, one, near.file, near.share), near.file.run


def _like(signal: Signal, one: GradedFile, other: SimilarFile | FileCells, share: float) -> Finding:
    """The signal that two files are alike.

    An agent without randomness sends the same file again, and anybody can send a constant file:
    then the level is only `annotate`.
    """
    is_expected = one.agent == other.agent or is_constant(one.sketch)
    detail = {"submission": other.submission, "experiment": other.experiment, "near": share}
    return Finding(signal, Level.ANNOTATE if is_expected else Level.REVIEW, detail)


def add_signals(session: Session, found: Sequence[SignalRecord]) -> None:
    """Store signals with a time after that of every decision about their runs.

    Whoever decided while they were computed did not know them, so they put the run back into the
    queue.
    """
    if not found:
        return
    now = locked_moment(session)
    latest = {run: decisions.current(session, run) for run in {one.run_id for one in found}}
    times = {run: max(now, last.at + MICROSECOND) if last else now for run, last in latest.items()}
    signals.add_all(session, [replace(one, at=times[one.run_id]) for one in found])


def _leaked(session: Session, files: Sequence[GradedFile], at: datetime) -> Iterator[SignalRecord]:
    """The signals of files that are listed as leaked."""
    for competition in sorted({one.competition for one in files}):
        notes = {
            leak.sha256: leak.note for leak in known_leaks.of_competition(session, competition)
        }
        for one in files:
            if one.competition == competition and one.sha256 in notes:
                yield _record(one, leak_finding(notes[one.sha256]), None, at)


def leak_finding(note: str) -> Finding:
    """The signal of a file that an admin listed."""
    return Finding(Signal.KNOWN_LEAK, Level.REVIEW, {"note": note})


def _probing(session: Session, one: GradedFile) -> Finding | None:
    sent = sketches.of_run(session, one.run, until=one.submission, limit=COMPARED)
    count = probes(sent) if len(sent) > PROBES else 0
    if count < PROBES:
        return None
    level = Level.REVIEW if one.feedback.shows_a_score else Level.ANNOTATE
    detail = {"of_the_last": len(sent), "with_few_changed_rows": count}
    return Finding(Signal.PROBING, level, detail)


def _record(one: GradedFile, finding: Finding, other: str | None, at: datetime) -> SignalRecord:
    return SignalRecord(
        submission_id=one.submission,
        run_id=one.run,
        signal=finding.signal,
        level=finding.level,
        other_run=other,
        detail=finding.detail,
        at=at,
    )
