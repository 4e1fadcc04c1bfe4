"""What happens to a claimed submission, whoever claimed it: graded, and its outcome written."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future

from app.domain.states import SubmissionState
from app.errors import StorageFull, Unavailable
from app.graders.results import GraderFault, GradingResult
from app.prometheus_metrics import GRADING_SECONDS, SETTLED
from app.services.grading import grade
from app.services.runtime.context import Context
from app.storage.database.records import ClaimRecord

log = logging.getLogger("podium.worker")
PAUSE_SECONDS = 0.5  # before the database is tried again
Seen = Future[SubmissionState | None]


class GradingLifecycle:
    """Sees claimed submissions through: a grader's work, and its outcome written, whatever comes.

    The future of a grading is done once its outcome is committed, and gives the state that the
    submission is in then: `queued` where it has to be tried again, None if the claim held no more.
    It raises what made it impossible to write any outcome, and is cancelled when the graders close:
    then the submission stays `grading`. `are_others` says that other machines may do better where
    this one cannot start a grader: the submission is given back then.
    """

    def __init__(self, context: Context, *, are_others: bool = False) -> None:
        self._context = context
        self._are_others = are_others

    def begin(self, claimed: ClaimRecord) -> Seen:
        """Hand a claimed submission to a grader, and what comes of it to the database."""
        seen: Seen = Future()
        seen.add_done_callback(lambda _: grade.end(self._context, claimed))
        started = time.monotonic()

        def graded(future: Future[GradingResult]) -> None:
            if future.cancelled():
                seen.cancel()  # the graders are closing
                return
            error = future.exception()
            if isinstance(error, Unavailable | StorageFull):
                log.warning(
                    "a file is out of reach", extra={"submission": claimed.id, "why": str(error)}
                )
                self._postpone(claimed, seen)
                return
            if error is not None:
                log.error("cannot grade", exc_info=error, extra={"submission": claimed.id})
                self._finish(claimed, GraderFault("internal", type(error).__name__), seen)
                return
            outcome = future.result()
            if (
                self._are_others
                and isinstance(outcome, GraderFault)
                and outcome.kind == "not_started"
            ):
                log.error("no grader can be started here")
                self._postpone(claimed, seen)
                return
            GRADING_SECONDS.labels(claimed.competition).observe(time.monotonic() - started)
            self._finish(claimed, outcome, seen)

        try:
            future = grade.start(self._context, claimed)
        except Unavailable as error:
            log.warning(
                "a grading has to wait", extra={"submission": claimed.id, "why": str(error)}
            )
            self._postpone(claimed, seen)
            return seen
        except Exception:
            # Not the file's fault, whatever it is; and the loop must live on for the others.
            log.exception("cannot start a grading", extra={"submission": claimed.id})
            self._finish(claimed, GraderFault("not_started", ""), seen)
            return seen
        future.add_done_callback(graded)
        return seen

    def _finish(self, claimed: ClaimRecord, outcome: GradingResult, seen: Seen) -> None:
        if isinstance(outcome, GraderFault):
            log.error(
                "grading fault",
                extra={"submission": claimed.id, "kind": outcome.kind, "place": outcome.place,
                       "attempt": claimed.attempts},
            )  # fmt: skip

        def written(future: Future[SubmissionState | None]) -> None:
            error = future.exception()
            if isinstance(error, Unavailable | StorageFull):
                # Graded, but the database is away for longer than a write's patience: try on.
                self._later(claimed, outcome, seen)
            elif error is not None:
                log.error(
                    "cannot write an outcome", exc_info=error, extra={"submission": claimed.id}
                )
                if isinstance(outcome, GraderFault):
                    seen.set_exception(error)
                else:
                    self._later(claimed, GraderFault("internal", type(error).__name__), seen)
            else:
                _count(claimed, future.result())
                seen.set_result(future.result())

        grade.finish(self._context, claimed, outcome).add_done_callback(written)

    def _later(self, claimed: ClaimRecord, outcome: GradingResult, seen: Seen) -> None:
        """Try to write an outcome again after a pause; the timer dies with the process."""
        timer = threading.Timer(PAUSE_SECONDS, self._finish, (claimed, outcome, seen))
        timer.daemon = True
        timer.start()

    def _postpone(self, claimed: ClaimRecord, seen: Seen) -> None:
        """Give a submission back after a pause: nothing was tried, so no attempt counts."""

        def given_back(future: Future[None]) -> None:
            error = future.exception()
            if error is None:
                seen.set_result(SubmissionState.QUEUED)
            elif isinstance(error, Unavailable | StorageFull):
                self._postpone(claimed, seen)
            else:
                seen.set_exception(error)

        def give_back() -> None:
            grade.give_back(self._context, claimed).add_done_callback(given_back)

        timer = threading.Timer(PAUSE_SECONDS, give_back)
        timer.daemon = True
        timer.start()


def _count(claimed: ClaimRecord, state: SubmissionState | None) -> None:
    if state is None:
        log.warning("an outcome came too late and was dropped", extra={"submission": claimed.id})
    elif state.is_settled:
        SETTLED.labels(state.value).inc()
