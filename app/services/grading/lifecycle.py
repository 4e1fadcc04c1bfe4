"""The lifecycle of a grading: claim a submission, have it graded, write the outcome.

The loop of a server and the workers of a queue both use it, so a submission is treated alike
wherever it is graded.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future
from datetime import UTC, datetime

from app.domain.states import SubmissionState
from app.errors import StorageFull, Unavailable
from app.graders.messages.results import GraderFault, GradingResult
from app.prometheus_metrics import SETTLED, observe_grading
from app.services.grading.send_to_grader import send_to_grader
from app.services.runtime import gradings_in_progress
from app.services.runtime.context import Context
from app.services.runtime.write_outcomes import FinishedGrading
from app.storage.database.records import ClaimRecord
from app.storage.queries import claims, submissions

log = logging.getLogger("podium.worker")
PAUSE_SECONDS = 0.5  # before the database is tried again
GradingEnd = Future[SubmissionState | None]


class GradingLifecycle:
    """Grades claimed submissions and writes exactly one outcome for each.

    The future of a grading is done once its outcome is committed. Its result is the state of the
    submission: `queued` if it has to be tried again, None if the claim was lost meanwhile. It
    raises the error because of which no outcome could be written. It is cancelled when the graders
    close; the submission then stays `grading`. With `are_others`, other machines grade as well: a
    submission is given back if no grader can be started on this one.
    """

    def __init__(self, context: Context, *, are_others: bool = False) -> None:
        self._context = context
        self._are_others = are_others

    def claim(self, limit: int, *, only: str | None = None) -> list[ClaimRecord]:
        """Claim up to `limit` queued submissions, oldest first, or only the one named."""
        instance, now = self._context.instance, datetime.now(UTC)
        return self._context.database.write(
            lambda session: submissions.claim(session, instance, limit, now, only=only)
        )

    def start(self, claimed: ClaimRecord) -> GradingEnd:
        """Send a claimed submission to a grader, and write its outcome when it comes."""
        context = self._context
        end: GradingEnd = Future()
        if not self._are_others:  # the queue counts the deaths of its workers itself
            end.add_done_callback(lambda _: gradings_in_progress.end(context.settings, claimed.id))
        started = time.monotonic()

        def begun() -> None:
            if not self._are_others:
                gradings_in_progress.begin(context.settings, claimed.id)

        def graded(future: Future[GradingResult]) -> None:
            if future.cancelled():
                end.cancel()  # the graders are closing
                return
            error = future.exception()
            if isinstance(error, Unavailable | StorageFull):
                log.warning(
                    "a file is out of reach", extra={"submission": claimed.id, "why": str(error)}
                )
                self._postpone(claimed, end)
                return
            if error is not None:
                log.error("cannot grade", exc_info=error, extra={"submission": claimed.id})
                self._finish(claimed, GraderFault("internal", type(error).__name__), end)
                return
            outcome = future.result()
            if (
                self._are_others
                and isinstance(outcome, GraderFault)
                and outcome.kind == "not_started"
            ):
                log.error("no grader can be started here")
                self._postpone(claimed, end)
                return
            observe_grading(claimed.competition, time.monotonic() - started)
            self._finish(claimed, outcome, end)

        try:
            future = send_to_grader(context, claimed.version_id, claimed.sha256, begun)
        except Unavailable as error:
            log.warning(
                "a grading has to wait", extra={"submission": claimed.id, "why": str(error)}
            )
            self._postpone(claimed, end)
            return end
        except Exception:
            # Not the file's fault, whatever it is; and the loop must live on for the others.
            log.exception("cannot start a grading", extra={"submission": claimed.id})
            self._finish(claimed, GraderFault("not_started", ""), end)
            return end
        future.add_done_callback(graded)
        return end

    def give_back(self, claimed: ClaimRecord) -> Future[None]:
        """Queue a submission again whose grading was cut short here; the attempt does not count."""
        return self._context.database.enqueue(lambda session: claims.give_back(session, claimed))

    def _finish(self, claimed: ClaimRecord, outcome: GradingResult, end: GradingEnd) -> None:
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
                self._later(claimed, outcome, end)
            elif error is not None:
                log.error(
                    "cannot write an outcome", exc_info=error, extra={"submission": claimed.id}
                )
                if isinstance(outcome, GraderFault):
                    end.set_exception(error)
                else:
                    self._later(claimed, GraderFault("internal", type(error).__name__), end)
            else:
                _count(claimed, future.result())
                end.set_result(future.result())

        metric = self._context.catalogue.version(claimed.version_id).document["metric"]["name"]
        finished = FinishedGrading(claimed, outcome, metric, datetime.now(UTC))
        self._context.finished_gradings.add(finished).add_done_callback(written)

    def _later(self, claimed: ClaimRecord, outcome: GradingResult, end: GradingEnd) -> None:
        """Try to write an outcome again after a pause; the timer dies with the process."""
        timer = threading.Timer(PAUSE_SECONDS, self._finish, (claimed, outcome, end))
        timer.daemon = True
        timer.start()

    def _postpone(self, claimed: ClaimRecord, end: GradingEnd) -> None:
        """Give a submission back after a pause: nothing was tried, so no attempt counts."""

        def given_back(future: Future[None]) -> None:
            error = future.exception()
            if error is None:
                end.set_result(SubmissionState.QUEUED)
            elif isinstance(error, Unavailable | StorageFull):
                self._postpone(claimed, end)
            else:
                end.set_exception(error)

        def give_back() -> None:
            self.give_back(claimed).add_done_callback(given_back)

        timer = threading.Timer(PAUSE_SECONDS, give_back)
        timer.daemon = True
        timer.start()


def _count(claimed: ClaimRecord, state: SubmissionState | None) -> None:
    if state is None:
        log.warning("an outcome came too late and was dropped", extra={"submission": claimed.id})
    elif state.is_settled:
        SETTLED.labels(state.value).inc()
