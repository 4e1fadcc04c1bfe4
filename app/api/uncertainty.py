"""The noise of scores: of one submission, and of an experiment's final submissions."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any, TypeVar

from fastapi import APIRouter, Request

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Archived, Ctx, ExperimentPath, Id
from app.api.http.negotiation import answer
from app.api.http.problems import responses
from app.api.http.threads import run_in_thread
from app.api.http.turns.request_turns import give_turn_back
from app.api.results import ANSWERS
from app.api.schemas.uncertainty import ExperimentNoiseOut, UncertaintyOut
from app.errors import Unavailable
from app.reports.uncertainty import noise_report, uncertainty_document
from app.services.grading import uncertainty
from app.services.login import require_valid
from app.services.results.noise import experiment_noise

router = APIRouter(prefix="/v1", tags=["results"], dependencies=[FOR_RESEARCHERS])
LONGEST_WAIT = 60.0  # seconds
Result = TypeVar("Result")


@router.get(
    "/submissions/{submission_id}/uncertainty",
    response_model=UncertaintyOut,
    responses=responses(401, 403, 404, 409, 422),
)
async def show_uncertainty(
    request: Request, context: Ctx, caller: Anyone, submission_id: Id
) -> Any:
    """The noise of a submission's score: its test rows drawn again, 1,000 times.

    It is estimated at the first request, by a process that never delays a grading, and stored.
    """
    found = await run_in_thread(uncertainty.find, context, submission_id)
    kept = found.kept
    if kept is None:
        estimate = await run_in_thread(uncertainty.start, context, found, caller.key_id)
        give_turn_back(request.scope)
        kept = await result_of(estimate, LONGEST_WAIT)
        await run_in_thread(require_valid, context, caller.key_id)
    return {
        "submission": found.submission.id,
        "score": found.grade.score,
        "medal": found.grade.medal,
        "grader": kept.grader,
        **uncertainty_document(kept),
    }


async def result_of(estimate: Future[Result], seconds: float) -> Result:
    """The result of an estimate. Others may wait for it too, so it is never cancelled here.

    Raises:
        Unavailable: there is none after so many seconds.
    """
    waiting = asyncio.wrap_future(estimate)
    # Otherwise asyncio logs the error of an estimate that fails after this request has ended.
    waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.wait_for(asyncio.shield(waiting), seconds)
    except TimeoutError:
        raise Unavailable("The noise is still being estimated: ask again.") from None


@router.get("/experiments/{name}/uncertainty", response_model=ExperimentNoiseOut, responses=ANSWERS)
def show_noise(
    request: Request, context: Ctx, name: ExperimentPath, archived: Archived = False
) -> Any:
    """The final scores with the noise that was asked for, and the medals within their noise."""
    scores = experiment_noise.final_scores(context, name, archived=archived)
    return answer(request, noise_report(name, scores))
