"""Start regrades of a competition's submissions, show their differences, and apply them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from app.api.dependencies import FOR_ADMINS, FOR_RESEARCHERS, Anyone, Ctx, Cursor, Id, Limit, Slug
from app.api.http.problems import responses
from app.api.schemas.regrades import NewRegrade, RegradeDecision, RegradeDetailsOut, RegradeOut
from app.api.schemas.runs import Page
from app.reports.regrades import regrade_details, regrade_document
from app.services.regrades import show
from app.services.regrades.apply import apply
from app.services.regrades.start import cancel, start

router = APIRouter(prefix="/v1", tags=["regrades"])
ANSWERS: dict[int | str, dict[str, Any]] = responses(401, 403, 404, 422)
DECISIONS: dict[int | str, dict[str, Any]] = responses(401, 403, 404, 409, 422)


@router.post(
    "/competitions/{slug}/regrades",
    status_code=201,
    response_model=RegradeOut,
    responses=DECISIONS,
    dependencies=[FOR_ADMINS],
)
def start_regrade(
    request: Request, context: Ctx, caller: Anyone, slug: Slug, body: NewRegrade
) -> Any:
    """Start to grade all settled submissions of a competition again; results do not change.

    They are graded in the background, after live submissions.
    """
    made = start(context, slug, version=body.version, submission=body.submission, by=caller.key_id)
    if request.app.state.regrading is not None:
        request.app.state.regrading.wake()
    return regrade_document(show.find(context, made.id))


@router.get(
    "/competitions/{slug}/regrades",
    response_model=Page[RegradeOut],
    responses=ANSWERS,
    dependencies=[FOR_RESEARCHERS],
)
def list_regrades(context: Ctx, slug: Slug, limit: Limit = 100, cursor: Cursor = None) -> Any:
    """A competition's regrades, oldest first."""
    found, after = show.page(context, slug, cursor, limit)
    return {"items": [regrade_document(one) for one in found], "next_cursor": after}


@router.get(
    "/regrades/{regrade_id}",
    response_model=RegradeDetailsOut,
    responses=ANSWERS,
    dependencies=[FOR_RESEARCHERS],
)
def show_regrade(context: Ctx, regrade_id: Id, limit: Limit = 100, cursor: Cursor = None) -> Any:
    """A regrade: its progress and, once it is ready, its difference."""
    return regrade_details(context, regrade_id, cursor, limit)


@router.post(
    "/regrades/{regrade_id}/apply",
    response_model=RegradeOut,
    responses=DECISIONS,
    dependencies=[FOR_ADMINS],
)
def apply_regrade(context: Ctx, caller: Anyone, regrade_id: Id, body: RegradeDecision) -> Any:
    """Apply a regrade that is ready: results use it. First grades and earlier regrades are kept."""
    apply(context, regrade_id, reason=body.reason, by=caller.key_id)
    return regrade_document(show.find(context, regrade_id))


@router.post(
    "/regrades/{regrade_id}/cancel",
    response_model=RegradeOut,
    responses=DECISIONS,
    dependencies=[FOR_ADMINS],
)
def cancel_regrade(context: Ctx, caller: Anyone, regrade_id: Id, body: RegradeDecision) -> Any:
    """Cancel a regrade that is not applied. Its outcomes stay readable."""
    cancel(context, regrade_id, reason=body.reason, by=caller.key_id)
    return regrade_document(show.find(context, regrade_id))
