"""One call for harnesses: make the run, store the file, wait, answer with the grade."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic_core import to_json

from app.api import serializers
from app.api.dependencies import FOR_HARNESSES, AlsoHarness, Ctx, Slug
from app.api.http.prefer import wait_seconds
from app.api.http.problems import MEDIA_TYPE, document, responses
from app.api.http.threads import run_in_thread
from app.api.http.upload import require_csv
from app.api.receive_submission import (
    CSV_BODY,
    LONGEST_KEY,
    header_parameter,
    receive_submission,
    submission_meta,
)
from app.api.schemas.grade import GradeReport, MLEBenchReport
from app.domain.feedback import Feedback
from app.domain.states import LARGEST_SEED, LEAST_SEED, SubmissionState
from app.errors import Unavailable
from app.prometheus_metrics import RECEIVED
from app.reports.mle_bench_report import report_of_submission, report_without_submission
from app.services.auth import Caller
from app.services.competitions import queries
from app.services.experiments import create_run
from app.services.experiments.create_run import NewRun
from app.services.runtime.context import Context
from app.services.submissions import disclose, submit
from app.services.submissions.disclose import FAULT_PROBLEM, Disclosed
from app.services.submissions.submit import SubmissionMeta
from app.services.submissions.wait_for_outcome import show_after_wait, wait_until_shown

router = APIRouter(prefix="/v1/competitions/{slug}", tags=["submissions"])
DEFAULT_WAIT, LONGEST_WAIT = 60.0, 600.0  # seconds
# The prefix of the Idempotency-Keys of attempts. Clients of the other routes cannot send such a
# key, because a header has only characters of Latin-1. So an agent cannot use up the key of its
# harness's attempt.
MADE_HERE = "grade\N{RIGHTWARDS ARROW}"


class NotGradedYet(Unavailable):
    """The file is stored and not graded yet.

    Send the same request again: it is the same attempt, and waits for the same grade.
    """


class Format(StrEnum):
    """The form of a grade."""

    PODIUM = "podium"
    MLE_BENCH = "mle-bench"


ReportFormat = Annotated[
    Format, Query(description="`mle-bench`: exactly the 16 fields of MLE-bench's report")
]
Experiment = Annotated[
    str | None,
    Query(
        min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f/]+$",
        description="the experiment's name; a harness's key has its own",
    ),
]  # fmt: skip
Seed = Annotated[int, Query(ge=LEAST_SEED, le=LARGEST_SEED, description="the run's seed")]
Attempt = Annotated[
    int | None,
    Query(ge=0, le=10**9, description="the number of this file in the run; one file each"),
]
REPORT: dict[str, Any] = {
    "application/json": {
        "schema": {
            "anyOf": [
                {"$ref": "#/components/schemas/GradeReport"},
                {"$ref": "#/components/schemas/MLEBenchReport"},
            ]
        }
    }
}
PARAMETERS = [
    header_parameter("idempotency-key", "the same key and bytes are the same attempt; once per "
                     "file and run", maxLength=LONGEST_KEY),
    header_parameter("prefer", "`wait=N`: answer after N seconds at the latest (60; at most 600)"),
]  # fmt: skip


@router.post(
    "/grade",
    response_model=GradeReport | MLEBenchReport,
    responses={
        200: {"description": "The file's grade, or its violations", "content": REPORT},
        202: {"model": GradeReport, "description": "Stored, to be graded: send it again to wait"},
        **responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 507),
    },
    openapi_extra={**CSV_BODY, "parameters": PARAMETERS},
    dependencies=[FOR_HARNESSES],
)
async def grade_file(
    request: Request,
    context: Ctx,
    caller: AlsoHarness,
    slug: Slug,
    experiment: Experiment = None,
    seed: Seed = 0,
    attempt: Attempt = None,
    format: ReportFormat = Format.PODIUM,  # noqa: A002 (the name in the address)
) -> Response:
    """Grade a file in one call: make the run unless it exists, store the file, wait for its grade.

    A new run has the policy `none`; an existing run keeps its policy, limits and version. A
    repeated request is the same attempt, which is identified by its `attempt`, else its
    `Idempotency-Key`, else its bytes. A file at fault gets a report with `valid_submission: false`.
    If Podium is at fault, the answer is a 5xx, never a score. If the file is not graded in time,
    the answer is 202; with `format=mle-bench`, which has no form for that, it is 503.
    """
    meta, wait = submission_meta(request), wait_seconds(request, LONGEST_WAIT)
    require_csv(request)  # a refused body makes no run
    named = create_run.experiment_of(caller, experiment, "query.experiment")
    new = NewRun(named, slug, seed, Feedback.NONE, {})
    run = await run_in_thread(create_run.find_or_create, context, caller, new)

    def meta_of(sha256: str) -> SubmissionMeta:
        return SubmissionMeta(meta.message, _attempt_key(attempt, meta.idempotency_key, sha256))

    new_id = submit.new_submission_id()
    stored = await receive_submission(request, context, run.id, new_id, meta_of)
    if stored.received.created:
        RECEIVED.inc()
    seconds = DEFAULT_WAIT if wait is None else wait
    shown = await _settled(context, caller, stored.received.submission.id, seconds)
    return await run_in_thread(_answer, request, context, shown, format)


@router.get(
    "/grade",
    response_model=MLEBenchReport,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_HARNESSES],
)
def grade_nothing(context: Ctx, caller: AlsoHarness, slug: Slug) -> Any:
    """MLE-bench's report of a run without a submission: the medal lines. Nothing is stored."""
    entry, _ = queries.find(context, caller, slug)
    return report_without_submission(entry)


def _attempt_key(attempt: int | None, sent: str | None, sha256: str) -> str:
    """The Idempotency-Key of an attempt, from its number, else the sent key, else the file."""
    if attempt is not None:
        return f"{MADE_HERE}attempt {attempt}"
    return f"{MADE_HERE}file {sha256}" if sent is None else f"{MADE_HERE}key {sent}"


async def _settled(
    context: Context, caller: Caller, submission_id: str, seconds: float
) -> Disclosed:
    """The submission once it is settled, or its state after this number of seconds."""
    with context.notifications.subscribe(submission_id) as settled:
        # Read after subscribing: an outcome in between is not missed.
        shown = await run_in_thread(disclose.show, context, caller, submission_id)
        if shown.submission.state.is_settled or seconds <= 0:
            return shown
        await wait_until_shown(context, caller, shown.run, shown.submission, settled, seconds)
    return await run_in_thread(show_after_wait, context, caller, shown.run, shown.submission)


def _answer(request: Request, context: Context, shown: Disclosed, form: Format) -> Response:
    submission = shown.submission
    headers = {"Location": f"/v1/submissions/{submission.id}"}
    if submission.state is SubmissionState.FAILED:
        problem = document(
            request, slug="grading-fault", title=str(FAULT_PROBLEM["title"]), status=500,
            detail=str(FAULT_PROBLEM["detail"]), submission=submission.id,
        )  # fmt: skip
        return JSONResponse(problem, 500, headers, MEDIA_TYPE)
    if form is Format.PODIUM:
        status = 200 if submission.state.is_settled else 202
        body = to_json(serializers.grade_report(shown))
        return Response(body, status, headers, "application/json")
    if not submission.state.is_settled:
        raise NotGradedYet(
            f"The file is stored as {submission.id} and not graded yet. Send the same request "
            "again: it waits for the same grade.",
            submission=submission.id,
        )
    report = report_of_submission(context.catalogue.of_version(submission.version_id), shown)
    return Response(to_json(report), 200, headers, "application/json")
