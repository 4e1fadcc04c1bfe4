"""Claims on submissions of regrades: the `ClaimStore` that leaves live submissions untouched."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import RegradeState, SubmissionState
from app.errors import Unavailable
from app.graders.messages.results import GraderFault, GradingResult
from app.services.regrades.add_submissions import finish
from app.services.regrades.outcome_records import outcome_record
from app.services.runtime.context import Context
from app.services.runtime.environment import refusal, this_environment
from app.storage.database import notify
from app.storage.queries.operation import environments
from app.storage.queries.operation.environments import Environment
from app.storage.queries.regrades import outcomes, regrades
from app.storage.queries.regrades.outcomes import ClaimedRegrading
from app.storage.queries.regrades.regrades import RegradeRecord

log = logging.getLogger("podium.worker")
# Gradings of one file that may be interrupted by the death of the process; then the file is not
# tried again. Kills by an operator count too, so the number is larger than for live submissions.
DEATHS = 6
ALONE_SECONDS = 30.0  # until a regrade is cancelled because no server grades in its environment


class RegradeClaims:
    """Claims submissions of the running regrades, and writes one outcome for each.

    With `are_others`, other machines grade as well: a claim is refused if the environment of this
    process is not that of the database.
    """

    def __init__(self, context: Context, *, are_others: bool = False) -> None:
        self._context = context
        self._are_others = are_others
        self._alone_since: dict[str, float] = {}  # regrades in whose environment nobody grades
        self.may_have_more = True  # a regrade is running until a claim finds nothing left of it

    def claim(
        self, limit: int, busy: Collection[ClaimedRegrading]
    ) -> list[ClaimedRegrading] | None:
        """Begin attempts at up to `limit` submissions of the oldest regrade that has some left.

        None if no regrade is running.
        """
        running = self._running()
        if not running:
            return None
        for one in running if limit > 0 else ():
            claimed = {each.id for each in busy if each.regrade_id == one.id}
            ids, is_done = self._queued(one.id, limit + len(busy))
            new = [each for each in ids if each not in claimed][:limit]
            if new:
                return self._begin(one.id, new)
            if is_done:
                self._finish(one.id)
        return []

    def claim_job(self, regrade_id: str, submission_id: str) -> ClaimedRegrading | None:
        """Begin the attempt of a job that the queue delivered. None if there is nothing to grade.

        Raises:
            OtherEnvironment: this process may not grade in this database.
        """
        if regrade_id not in {one.id for one in self._running()}:
            return None
        return next(iter(self._begin(regrade_id, [submission_id])), None)

    def in_turn(
        self, claimed: ClaimedRegrading, send: Callable[[], Future[GradingResult]]
    ) -> Future[GradingResult]:
        """Send the file at once, because regrades wait only for live submissions."""
        return send()

    def write(
        self, claimed: ClaimedRegrading, outcome: GradingResult, metric: str
    ) -> Future[SubmissionState | None]:
        """Write an outcome, unless there is one. A fault with attempts left writes nothing."""
        end: Future[SubmissionState | None] = Future()
        if isinstance(outcome, GraderFault) and claimed.attempts < self._attempts:
            end.set_result(SubmissionState.QUEUED)
            return end
        record = outcome_record(claimed, outcome, metric)
        queues, database = self._context.settings.queues, self._context.database

        def written(future: Future[bool]) -> None:
            error = future.exception()
            if error is not None:
                end.set_exception(error)
                return
            # After the commit, so that the last of several processes finds nothing left. If this
            # process is ending, the next one that grades finishes the regrade.
            with contextlib.suppress(Unavailable):
                database.enqueue(lambda session: finish(session, claimed.regrade_id, queues=queues))
            end.set_result(record.state if future.result() else None)

        database.enqueue(
            lambda session: outcomes.settle(session, claimed.regrade_id, claimed.id, record)
        ).add_done_callback(written)
        return end

    def give_back(self, claimed: ClaimedRegrading) -> Future[None]:
        """Undo the count of an attempt whose grading was interrupted here."""
        return self._context.database.enqueue(lambda session: outcomes.give_back(session, claimed))

    def begun(self, claimed: ClaimedRegrading) -> None:
        """Note nothing: every attempt is counted when it begins, and at most `DEATHS` are made."""

    def graded(self, claimed: ClaimedRegrading, seconds: float) -> None:
        """Count nothing: the metrics are about live submissions."""

    def ended(self, claimed: ClaimedRegrading) -> None:
        """Do nothing: there is no note to remove."""

    @property
    def _attempts(self) -> int:
        return self._context.settings.grading_attempts

    def _running(self) -> list[RegradeRecord]:
        """The regrades that this process may grade; those of other environments are cancelled.

        Raises:
            OtherEnvironment: this process may not grade here, nor cancel what others do.
        """
        with self._context.database.read() as session:
            self._require_environment(session)
            found = regrades.running(session)
        return [one for one in found if self._is_comparable(one)]

    def _require_environment(self, session: Session) -> None:
        agreed = environments.current(session) if self._are_others else None
        if agreed is not None and agreed[0] != this_environment():
            raise refusal(*agreed)

    def _queued(self, regrade_id: str, limit: int) -> tuple[list[str], bool]:
        """Submissions that this process may claim, and whether nothing is left to grade."""
        with self._context.database.read() as session:
            names = self._names(session, regrade_id)
            ids = outcomes.queued(session, regrade_id, limit, of=names)
            return ids, not (ids or outcomes.queued(session, regrade_id, 1))

    def _names(self, session: Session, regrade_id: str) -> list[str] | None:
        """The names of this server and of dead ones; None if claims have no names.

        The queue gives a submission to one worker at a time, and SQLite has one server.
        """
        if self._are_others or self._context.database.is_sqlite:
            return None
        own = self._context.instance
        others = [one for one in outcomes.claimants(session, regrade_id) if one != own]
        return [own, *(one for one in others if not notify.is_listening(session, one))]

    def _begin(self, regrade_id: str, submission_ids: Sequence[str]) -> list[ClaimedRegrading]:
        """Begin an attempt at those of the submissions that are still to be graded."""

        def begin(session: Session) -> list[ClaimedRegrading]:
            self._require_environment(session)
            names = self._names(session, regrade_id)
            claimed = outcomes.begin(session, regrade_id, submission_ids, of=names)
            lost = [one for one in claimed if one.attempts > DEATHS + self._attempts]
            for one in lost:
                record = outcome_record(one, GraderFault("worker_lost", ""), "")
                outcomes.settle(session, one.regrade_id, one.id, record)
            return [one for one in claimed if one not in lost]

        claimed = self._context.database.write(begin)
        if len(claimed) < len(submission_ids):
            self._finish(regrade_id)
        return claimed

    def _finish(self, regrade_id: str) -> None:
        """Make a regrade ready if nothing is left to grade."""
        queues = self._context.settings.queues
        self._context.database.write(lambda session: finish(session, regrade_id, queues=queues))

    def _is_comparable(self, one: RegradeRecord) -> bool:
        """Whether this process has the regrade's environment. If none has, cancel the regrade."""
        if one.began_in == this_environment():
            return True
        if self._is_graded_elsewhere(one.id, one.began_in):
            return False
        reason = "the environment of grading was changed while it ran; start it again"
        log.error("a regrade is cancelled", extra={"regrade": one.id, "why": reason})
        self._context.database.write(
            lambda session: regrades.change_running(
                session,
                one.id,
                state=RegradeState.CANCELLED,
                cancelled_at=datetime.now(UTC),
                reason=reason,
            )
        )
        return False

    def _is_graded_elsewhere(self, regrade_id: str, began: Environment) -> bool:
        """Whether a server in this environment is alive, or may only have lost its connection."""
        if self._are_others or self._context.database.is_sqlite:
            return False
        with self._context.database.read() as session:
            if notify.is_listening(session, str(began)):
                self._alone_since.pop(regrade_id, None)
                return True
        since = self._alone_since.setdefault(regrade_id, time.monotonic())
        return time.monotonic() - since < ALONE_SECONDS
