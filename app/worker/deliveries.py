"""Grade the submissions that the queue delivers, or give them back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from app.domain.states import SubmissionState
from app.errors import PodiumError, Unavailable
from app.queue.consumer import Retry
from app.services.grading.lifecycle import GradingLifecycle
from app.services.regrades.regrading import Regrading
from app.services.runtime.claim_jobs import ClaimedJob, delivered_job
from app.services.runtime.context import Context
from app.services.runtime.environment import OtherEnvironment
from app.storage.queries.regrades.outcomes import ClaimedRegrading

log = logging.getLogger("podium.worker")
Result = TypeVar("Result")
RETRY_PAUSE_SECONDS = 0.5  # before claiming again while the database is away
FAILURE_PAUSE_SECONDS = 5.0  # before a job whose outcome cannot be written returns to the queue
HAND_BACK_SECONDS = 5.0  # to give back one submission at the end of a drain


class Deliveries:
    """Grades delivered submissions. Calls `on_refusal` if this process may not grade here."""

    def __init__(self, context: Context, on_refusal: Callable[[OtherEnvironment], None]) -> None:
        self._context = context
        self._lifecycle = GradingLifecycle(context, are_others=True)
        self._regrading = Regrading(context, are_others=True)
        self._on_refusal = on_refusal

    async def grade(self, job: int, submission: str) -> None:
        """Grade a delivered submission, unless it is settled or another job has claimed it.

        If cancelled, give the submission back first. The attempt does not count then.

        Raises:
            Retry: the submission is not settled; the queue has to deliver it again.
        """
        claiming = self._begin_claim(job, submission)
        try:
            claimed = await self._result_of(claiming)
            while claimed is None:
                await asyncio.sleep(RETRY_PAUSE_SECONDS)
                claiming = self._begin_claim(job, submission)
                claimed = await self._result_of(claiming)
            if claimed.claim is None:
                return
            grading = await asyncio.to_thread(self._lifecycle.start, claimed.claim)
            state = await _wait_for(grading)
        except asyncio.CancelledError:
            await self._hand_back(claiming)
            raise
        except OtherEnvironment as refusal:
            self._on_refusal(refusal)
            raise Retry from None
        except PodiumError:
            await asyncio.sleep(FAILURE_PAUSE_SECONDS)
            raise Retry from None
        if state is SubmissionState.QUEUED:
            raise Retry

    async def regrade(self, regrade: str, submission: str) -> None:
        """Grade a submission anew for a regrade, unless that is done or the regrade is cancelled.

        If cancelled, give the submission back first. The attempt does not count then.

        Raises:
            Retry: the submission is not graded; the queue has to deliver it again.
        """
        claimed: list[ClaimedRegrading] = []
        try:
            claimed = await asyncio.to_thread(self._claim_regrading, regrade, submission)
            for one in claimed:
                grading = await asyncio.to_thread(self._regrading.start, one)
                if not await _wait_for(grading):
                    await asyncio.sleep(RETRY_PAUSE_SECONDS)
                    raise Retry
        except asyncio.CancelledError:
            for one in claimed:
                with contextlib.suppress(PodiumError, TimeoutError):
                    async with asyncio.timeout(HAND_BACK_SECONDS):
                        await _wait_for(self._regrading.give_back(one))
            raise
        except OtherEnvironment as refusal:
            self._on_refusal(refusal)
            raise Retry from None
        except PodiumError:
            await asyncio.sleep(FAILURE_PAUSE_SECONDS)
            raise Retry from None

    def _claim_regrading(self, regrade: str, submission: str) -> list[ClaimedRegrading]:
        """Begin the attempt, if the regrade is one that this process may work at."""
        if regrade not in {one.id for one in self._regrading.running()}:
            return []
        return self._regrading.claim(regrade, [submission])

    def _begin_claim(self, job: int, submission: str) -> Future[ClaimedJob]:
        return self._context.job_claims.add(delivered_job(job, submission))

    async def _result_of(self, claiming: Future[ClaimedJob]) -> ClaimedJob | None:
        """The result of a delivery; None while the database is away."""
        try:
            return await _wait_for(claiming)
        except Unavailable:
            return None

    async def _hand_back(self, claiming: Future[ClaimedJob]) -> None:
        try:
            async with asyncio.timeout(HAND_BACK_SECONDS):
                claimed = await _wait_for(claiming)
                if claimed.claim is not None:
                    await _wait_for(self._lifecycle.give_back(claimed.claim))
        except (PodiumError, TimeoutError) as error:
            # Maintenance requeues the job when this worker's heartbeat is overdue.
            log.warning("cannot give a submission back", extra={"error": repr(error)})


async def _wait_for(future: Future[Result]) -> Result:
    """Wait for a thread's future. Cancelling the wait does not cancel the future."""
    return await asyncio.shield(asyncio.wrap_future(future))
