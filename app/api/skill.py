"""`/SKILL.md` and `/llms.txt`: the contract in prose, for agents with a shell."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from app.api.dependencies import Ctx, Key, any_caller
from app.api.http.origin import origin
from app.api.http.problems import responses
from app.reports.agent_guide import RunGuide, guide_for_anyone, guide_for_harness, guide_for_run
from app.services.auth import Caller
from app.services.competitions import queries
from app.services.experiments import runs
from app.services.runtime.context import Context
from app.services.submissions.quotas import quota

router = APIRouter(tags=["service"])
TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"schema": {"type": "string"}}}},
    **responses(400, 401, 403),
}


@router.get("/SKILL.md", response_class=PlainTextResponse, responses=TEXT)
@router.get("/llms.txt", response_class=PlainTextResponse, responses=TEXT)
def skill(request: Request, context: Ctx, key: Key) -> Response:
    """How an agent works with Podium, in prose.

    With the key of a run it has the run's competition, policy, file format and remaining
    submissions; with that of a harness, how to grade; without a key, the contract in general.
    """
    url = origin(request)
    if key is None:
        text = guide_for_anyone(url)
    else:
        text = _guide(context, any_caller(request, context, key), url)
    headers = {"Cache-Control": "no-store", "Vary": "Authorization"}
    return PlainTextResponse(text, media_type="text/markdown", headers=headers)


def _guide(context: Context, caller: Caller, url: str) -> str:
    if caller.experiment is not None:
        return guide_for_harness(url, caller.experiment)
    if caller.run_id is None:
        return guide_for_anyone(url)
    run = runs.find(context, caller, caller.run_id)
    entry, _ = queries.find(context, caller, run.competition)
    # The first file that is not the sample submission is an example; there may be 200,000.
    files = tuple(file["name"] for file in context.catalogue.public_files.of(entry.version.id)[:2])
    about = RunGuide(run, entry.competition, entry.version.rows, files, quota(context, caller, run))
    return guide_for_run(url, about)
