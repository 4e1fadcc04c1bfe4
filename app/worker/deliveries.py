"""Grade the submissions that the queue delivers, or return them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from app.domain.states import SubmissionState
from app.errors import PodiumError, Unavailable
from app.logs import log_outage
from app.queue.consumer import Retry
from app.services.grading import claims_to_give_back
from app.services.grading.claim_jobs import delivered_job
from app.services.grading.claim_store import AnyClaim
from app.services.grading.lifecycle import GradingLifecycle
from app.services.grading.submission_claims import SubmissionClaims
from app.services.regrades.regrade_claims import RegradeClaims
from app.services.runtime.context import Context
from app.services.runtime.environment import OtherEnvironment
from app.storage.database.records import ClaimRecord
from app.storage.queries.regrades.outcomes import ClaimedRegrading
from app.system_limits import is_used_up

log = logging.getLogger("podium.worker")
Result = TypeVar("Result")
RETRY_PAUSE_SECONDS = 0.5  # before claiming again while the database is away
FAILURE_PAUSE_SECONDS = 5.0  # before a job whose outcome cannot be written returns to the queue
HAND_BACK_SECONDS = 5.0  # to give back one submission at the end of a drain


class Deliveries:
    """Grades delivered submissions. Calls `on_refusal` if this process may not grade here."""

    def __init__(self, context: Context, on_refusal: Callable[[OtherEnvironment], None]) -> None:
        self._on_refusal = on_refusal
        self._settings = context.settings
        self._submissions = SubmissionClaims(context, are_others=True)
        self._regrades = RegradeClaims(context, are_others=True)
        self._grading = GradingLifecycle(context, self._submissions, are_others=True)
        self._regrading = GradingLifecycle(context, self._regrades, are_others=True)

    async def grade(self, job: int, submission: str) -> None:
        """Grade a delivered submission, unless it is settled or another job has claimed it.

        If cancelled, return the submission first. The attempt does not count then.

        Raises:
            Retry: the submission is not settled; the queue has to deliver it again.
        """
        delivered = delivered_job(job, submission)  # the same one, however often it is claimed

        async def claim() -> ClaimRecord | None:
            return (await _wait_for(self._submissions.claim_job(delivered))).claim

        await self._deliver(
            self._grading,
            claim,
            partial(claims_to_give_back.note, self._settings, submission, delivered.claimant),
        )

    async def regrade(self, regrade: str, submission: str) -> None:
        """Grade a submission for a regrade, unless that is done or the regrade is cancelled.

        If cancelled, return the submission first. The attempt does not count then.

        Raises:
            Retry: the submission is not graded; the queue has to deliver it again.
        """

        async def claim() -> ClaimedRegrading | None:
            return await asyncio.to_thread(self._regrades.claim_job, regrade, submission)

        await self._deliver(self._regrading, claim)  # `DEATHS` allows for unreturned ones

    async def _deliver(
        self,
        lifecycle: GradingLifecycle[AnyClaim],
        claim: Callable[[], Awaitable[AnyClaim | None]],
        note: Callable[[], None] = lambda: None,
    ) -> None:
        claiming = asyncio.ensure_future(_claim_patiently(claim))
        try:
            claimed = await asyncio.shield(claiming)
            if claimed is None:
                return
            grading = await asyncio.to_thread(lifecycle.start, claimed)
            state = await _wait_for(grading)
        except asyncio.CancelledError:
            await _hand_back(lifecycle, claiming, note)
            raise
        except OtherEnvironment as refusal:
            self._on_refusal(refusal)
            raise Retry from None
        except PodiumError:
            await asyncio.sleep(FAILURE_PAUSE_SECONDS)
            raise Retry from None
        except Exception as error:
            # No grader got the file, so no attempt counts.
            if is_used_up(error):
                log_outage(log, "gradings have to wait", error)
            else:
                log.exception("a delivered submission cannot be graded yet")
            await _hand_back(lifecycle, claiming, note)
            await asyncio.sleep(FAILURE_PAUSE_SECONDS)
            raise Retry from None
        if state is SubmissionState.QUEUED:
            raise Retry


async def _claim_patiently(claim: Callable[[], Awaitable[Result]]) -> Result:
    """The result of a claim; waits for the database."""
    while True:
        try:
            return await claim()
        except Unavailable:
            await asyncio.sleep(RETRY_PAUSE_SECONDS)


async def _hand_back(
    lifecycle: GradingLifecycle[AnyClaim],
    claiming: asyncio.Future[AnyClaim | None],
    note: Callable[[], None],
) -> None:
    """Return a submission that was claimed, or is being claimed; if that fails, `note` it."""
    if claiming.done() and (claiming.cancelled() or claiming.exception()):
        return
    try:
        async with asyncio.timeout(HAND_BACK_SECONDS):
            claimed = await claiming
            if claimed is not None:
                await _wait_for(lifecycle.claims.give_back(claimed))
    except Exception as error:
        # Maintenance requeues the job when this worker's heartbeat is overdue.
        note()
        log.warning("cannot give a submission back", extra={"error": repr(error)})


async def _wait_for(future: Future[Result]) -> Result:
    """Wait for a thread's future. Cancelling the wait does not cancel the future."""
    return await asyncio.shield(asyncio.wrap_future(future))
