"""What a worker does with a submission that the queue delivers: grades it, or hands it back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from app.domain.states import SubmissionState
from app.errors import PodiumError, Unavailable
from app.queue.consumer import Retry
from app.services.grading.lifecycle import GradingLifecycle
from app.services.runtime.claim_jobs import ClaimedJob, delivered_job
from app.services.runtime.context import Context
from app.services.runtime.environment import OtherEnvironment

log = logging.getLogger("podium.worker")
Result = TypeVar("Result")
PAUSE_SECONDS = 0.5  # before the database is asked again
TROUBLE_SECONDS = 5.0  # before a job goes back whose outcome could not be written at all
HAND_BACK_SECONDS = 5.0  # for one submission, at the end of a drain


class Deliveries:
    """Sees deliveries through. `on_refusal` is told when this process may not grade here."""

    def __init__(self, context: Context, on_refusal: Callable[[OtherEnvironment], None]) -> None:
        self._context = context
        self._gradings = GradingLifecycle(context, are_others=True)
        self._on_refusal = on_refusal

    async def grade(self, job: int, submission: str) -> None:
        """Grade a delivered submission, unless it is settled or in other hands.

        Cancelled, it hands the submission back first: the attempt does not count then.

        Raises:
            Retry: it is not settled, and has to be delivered again.
        """
        offered = self._offer(job, submission)
        try:
            taken = await self._taken(offered)
            while taken is None:
                await asyncio.sleep(PAUSE_SECONDS)
                offered = self._offer(job, submission)
                taken = await self._taken(offered)
            if taken.claim is None:
                return
            seen = await asyncio.to_thread(self._gradings.start, taken.claim)
            state = await _whole(seen)
        except asyncio.CancelledError:
            await self._hand_back(offered)
            raise
        except OtherEnvironment as refusal:
            self._on_refusal(refusal)
            raise Retry from None
        except PodiumError:
            await asyncio.sleep(TROUBLE_SECONDS)
            raise Retry from None
        if state is SubmissionState.QUEUED:
            raise Retry

    def _offer(self, job: int, submission: str) -> Future[ClaimedJob]:
        return self._context.job_claims.add(delivered_job(job, submission))

    async def _taken(self, offered: Future[ClaimedJob]) -> ClaimedJob | None:
        """What came of a delivery; None while the database is away."""
        try:
            return await _whole(offered)
        except Unavailable:
            return None

    async def _hand_back(self, offered: Future[ClaimedJob]) -> None:
        try:
            async with asyncio.timeout(HAND_BACK_SECONDS):
                taken = await _whole(offered)
                if taken.claim is not None:
                    await _whole(self._gradings.give_back(taken.claim))
        except (PodiumError, TimeoutError) as error:
            # Its job is found by the heartbeat that is missing from now on.
            log.warning("a submission was not handed back", extra={"error": repr(error)})


async def _whole(future: Future[Result]) -> Result:
    """Wait for a future of a thread. To cancel the wait is not to cancel what is waited for."""
    return await asyncio.shield(asyncio.wrap_future(future))
