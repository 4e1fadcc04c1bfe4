"""Scores that a harness measured, with their evidence."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Id, Limit
from app.api.http.next_page import page_in_parts
from app.api.http.problems import responses
from app.api.schemas.reported_scores import ReportedScoreIn, ReportedScoreOut
from app.api.schemas.runs import Page
from app.services.experiments import reported_scores
from app.services.experiments.reported_scores import NewScore, Reported

AT_ONCE = 20  # read together: each may have evidence of 64 KiB
router = APIRouter(prefix="/v1/runs", tags=["runs"], dependencies=[FOR_RESEARCHERS])
After = Annotated[
    str | None,
    Query(pattern=r"^[0-9]{1,18}$", description="`next_cursor` of the last page"),
]


@router.post(
    "/{run_id}/reported-scores",
    status_code=201,
    response_model=ReportedScoreOut,
    responses={
        200: {"model": ReportedScoreOut, "description": "The same report exists already"},
        **responses(401, 403, 404, 409, 422),
    },
)
def report_score(
    response: Response, context: Ctx, caller: Anyone, run_id: Id, body: ReportedScoreIn
) -> Any:
    """Report a score that a trusted harness measured. It is never a grade."""
    new = NewScore(
        score=body.score,
        evidence=body.evidence.model_dump(exclude_none=True),
        final=body.final,
        step=body.step,
        run_seconds=body.run_seconds,
        higher_is_better=body.higher_is_better,
        improvement=body.improvement,
    )
    shown, created = reported_scores.report(context, caller, run_id, new)
    response.status_code = 201 if created else 200
    return _document(shown)


@router.get(
    "/{run_id}/reported-scores",
    response_model=Page[ReportedScoreOut],
    responses=responses(401, 403, 404, 422),
)
def list_reported_scores(context: Ctx, run_id: Id, limit: Limit = 100, cursor: After = None) -> Any:
    """The reported scores of a run, oldest first.

    A page of more than 1.5 MB has fewer than `limit`: `next_cursor` leads to the rest.
    """

    def read(after: int | None, count: int) -> tuple[list[dict[str, Any]], int | None]:
        found, following = reported_scores.page(context, run_id, after, count)
        return [_document(one) for one in found], following

    return page_in_parts(read, None if cursor is None else int(cursor), limit, AT_ONCE)


def _document(shown: Reported) -> dict[str, Any]:
    record = shown.record
    return {
        "id": record.id,
        "run": record.run_id,
        "competition": shown.run.competition,
        "competition_version": shown.competition_version,
        "state": "reported",
        "sort": record.kind,
        "score": record.score,
        "improvement": shown.improvement,
        "success": shown.success,
        "step": record.step,
        "run_seconds": record.run_seconds,
        "final": record.final,
        "evidence": record.evidence,
        "reported_by": record.reported_by,
        "reported_at": record.reported_at,
    }
