"""Faults of gradings, for admins."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from app.api.dependencies import FOR_ADMINS, Ctx, Limit
from app.api.http.problems import responses
from app.api.schemas.runs import Page
from app.services.operations import faults
from app.storage.queries.operation.faults import ListedFault

router = APIRouter(prefix="/v1/faults", tags=["service"], dependencies=[FOR_ADMINS])
Before = Annotated[
    str | None,
    Query(pattern=r"^[0-9]{1,18}$", description="`next_cursor` of the last page"),
]
SubmissionId = Annotated[
    str | None,
    Query(max_length=64, pattern=r"^[a-z0-9_]+$", description="only this submission's faults"),
]


@router.get("", response_model=Page[ListedFault], responses=responses(401, 403, 422))
def list_faults(
    context: Ctx, submission: SubmissionId = None, limit: Limit = 100, cursor: Before = None
) -> Any:
    """Why gradings failed, latest first: the kind of fault, and its place in metric.py or Podium.

    Every failed attempt is listed, also of submissions that a later attempt graded.
    """
    before = int(cursor) if cursor else None
    found, after = faults.page(context, submission, before, limit)
    return {"items": found, "next_cursor": None if after is None else str(after)}
