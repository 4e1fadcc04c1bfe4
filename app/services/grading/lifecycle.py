"""The lifecycle of a grading: a claimed submission is graded, and its outcome is written.

The loops of a server and the workers of a queue use it, for live submissions and for those of
regrades, so all submissions are treated alike. The `ClaimStore` has the differences.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic

from app.domain.states import SubmissionState
from app.errors import StorageFull, Unavailable
from app.graders.messages.results import GraderFault, GradingResult
from app.logs import log_outage
from app.regular_file import file_digest
from app.services.grading.claim_store import AnyClaim, ClaimStore
from app.services.grading.postponed import Postponed
from app.services.grading.send_to_grader import send_to_grader
from app.services.runtime.context import Context
from app.system_limits import is_used_up

log = logging.getLogger("podium.worker")
DATABASE_PAUSE_SECONDS = 0.5  # before the database is tried again
UNEXPECTED_PAUSE_SECONDS = 10.0  # the same, after an error that may be permanent
POSTPONED = Postponed()  # of this process
GradingEnd = Future[SubmissionState | None]


class GradingLifecycle(Generic[AnyClaim]):
    """Grades claimed submissions and writes exactly one outcome for each.

    The future of a grading is done once its outcome is committed. Its result is the state of the
    submission: `queued` if it has to be tried again, None if the claim was lost meanwhile. It is
    cancelled when the graders close; the claim then stays. With `are_others`, other machines grade
    as well, so a submission is returned if no grader can be started on this one.
    """

    def __init__(
        self, context: Context, claims: ClaimStore[AnyClaim], *, are_others: bool = False
    ) -> None:
        self.claims = claims
        self._context = context
        self._are_others = are_others
        POSTPONED.start()  # now: there may be no more threads when something has to wait

    def start(self, claimed: AnyClaim) -> GradingEnd:
        """Send a claimed submission to a grader, and write its outcome when it comes."""
        end: GradingEnd = Future()
        end.add_done_callback(lambda _: self.claims.ended(claimed))
        started = time.monotonic()

        def graded(future: Future[GradingResult]) -> None:
            if future.cancelled():
                end.cancel()  # the graders are closing
                return
            error = future.exception()
            if error is not None and _will_pass(error):
                self._postpone(claimed, end, str(error))
                return
            if error is not None:
                log.error("cannot grade", exc_info=error, extra={"submission": claimed.id})
                self._finish(claimed, GraderFault("internal", type(error).__name__), end)
                return
            outcome = future.result()
            not_started = isinstance(outcome, GraderFault) and outcome.kind == "not_started"
            if self._are_others and not_started:
                self._postpone(claimed, end, "no grader can be started here")
                return
            if isinstance(outcome, GraderFault) and self._was_away(claimed, outcome):
                self._postpone(claimed, end, f"{self._context.blobs.name} is not there")
                return
            self.claims.graded(claimed, time.monotonic() - started)
            self._finish(claimed, outcome, end)

        def send() -> Future[GradingResult]:
            return send_to_grader(
                self._context,
                claimed.version_id,
                claimed.sha256,
                lambda: self.claims.begun(claimed),
            )

        try:
            future = self.claims.in_turn(claimed, send)
        except Exception as error:
            if _will_pass(error):
                self._postpone(claimed, end, str(error))
                return end
            # Whatever it is, it is not the file's mistake, and the loop must continue for others.
            log.exception("cannot start a grading", extra={"submission": claimed.id})
            self._finish(claimed, GraderFault("not_started", ""), end)
        else:
            future.add_done_callback(graded)
        return end

    def _was_away(self, claimed: AnyClaim, fault: GraderFault) -> bool:
        """Whether a file was missing because its directory is away, or was away until now."""
        blobs = self._context.blobs
        if fault.kind != "storage" or not blobs.is_there():
            return fault.kind == "storage"
        if not blobs.is_local or claimed.sha256[:16] not in fault.place:  # it missed another file
            return False
        with blobs.lease(claimed.sha256) as lease, contextlib.suppress(OSError):
            return file_digest(lease.path)[1] == claimed.sha256
        return False

    def _finish(self, claimed: AnyClaim, outcome: GradingResult, end: GradingEnd) -> None:
        if isinstance(outcome, GraderFault):
            # A metric.py can write answers into the text of its own fault. Admins see it.
            place = "see podium faults" if outcome.kind == "metric" else outcome.place
            log.error(
                "grading fault",
                extra={"submission": claimed.id, "kind": outcome.kind, "place": place,
                       "attempt": claimed.attempts},
            )  # fmt: skip
        self._write(claimed, outcome, end)

    def _write(self, claimed: AnyClaim, outcome: GradingResult, end: GradingEnd) -> None:
        def written(future: Future[SubmissionState | None]) -> None:
            error = future.exception()
            if error is not None:
                failed(error)
                return
            if future.result() is None:
                log.warning("an outcome came too late, and is dropped: %s", claimed.id)
            end.set_result(future.result())

        def failed(error: BaseException) -> None:
            if isinstance(error, Unavailable | StorageFull):
                # Graded, but the database is away for longer than a write waits: try again.
                _later(lambda: self._write(claimed, outcome, end))
                return
            log.error("cannot write an outcome", exc_info=error, extra={"submission": claimed.id})
            if isinstance(outcome, GraderFault):
                # Nobody else would write it: for other claims the submission is being graded.
                _later(lambda: self._write(claimed, outcome, end), UNEXPECTED_PAUSE_SECONDS)
            else:
                fault = GraderFault("internal", type(error).__name__)
                _later(lambda: self._finish(claimed, fault, end))

        try:
            version = self._context.catalogue.version(claimed.version_id)
            writing = self.claims.write(claimed, outcome, version.document["metric"]["name"])
        except Exception as error:
            failed(error)
        else:
            writing.add_done_callback(written)

    def _postpone(self, claimed: AnyClaim, end: GradingEnd, why: str) -> None:
        """Return a submission after a pause. Nothing was tried, so no attempt counts."""
        log_outage(log, "gradings have to wait", why, submission=claimed.id)

        def given_back(future: Future[None]) -> None:
            error = future.exception()
            if error is None:
                end.set_result(SubmissionState.QUEUED)
            elif isinstance(error, Unavailable | StorageFull):
                _later(give_back)
            else:
                log.error("cannot give a submission back", exc_info=error)
                _later(give_back, UNEXPECTED_PAUSE_SECONDS)

        def give_back() -> None:
            self.claims.give_back(claimed).add_done_callback(given_back)

        _later(give_back)


def _will_pass(error: BaseException) -> bool:
    """Whether a grading has to wait: a store or a disk is away, or a resource is used up."""
    return isinstance(error, Unavailable | StorageFull) or is_used_up(error)


def _later(function: Callable[[], None], seconds: float = DATABASE_PAUSE_SECONDS) -> None:
    """Call a function after a pause."""
    POSTPONED.add(seconds, function)
