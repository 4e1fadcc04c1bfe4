"""Keys: made, listed and revoked by admins; further keys of runs by researchers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from app.api.dependencies import FOR_ADMINS, FOR_RESEARCHERS, Ctx, Cursor, Id, Limit
from app.api.http.problems import responses
from app.api.schemas.keys import KeyCreated, KeyIn, KeyOut, RunKeyIn
from app.api.schemas.runs import Page
from app.domain.states import Role
from app.reports.keys import key_document, new_key_document
from app.services.operations import keys

router = APIRouter(prefix="/v1", tags=["keys"])
RunId = Annotated[
    str | None, Query(max_length=64, pattern=r"^[a-z0-9_]+$", description="keys of this run only")
]


@router.post(
    "/keys",
    status_code=201,
    response_model=KeyCreated,
    responses=responses(401, 403, 404, 409, 422),
    dependencies=[FOR_ADMINS],
)
def create_key(context: Ctx, body: KeyIn) -> Any:
    """Make a key of an admin, a researcher or a harness; only this answer shows it.

    A harness's key is for one experiment: it makes runs there, sends their files and reads their
    grades.
    """
    made = keys.create(context, Role(body.role), body.name, body.expires, body.experiment)
    return new_key_document(made)


@router.get(
    "/keys",
    response_model=Page[KeyOut],
    responses=responses(401, 403, 422),
    dependencies=[FOR_ADMINS],
)
def list_keys(
    context: Ctx,
    role: Annotated[Role | None, Query(description="keys of this role only")] = None,
    run: RunId = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Keys, oldest first: their ids and holders, never the keys."""
    found, after = keys.page(context, role=role, run=run, after=cursor, limit=limit)
    return {"items": [key_document(one) for one in found], "next_cursor": after}


@router.delete(
    "/keys/{key_id}",
    response_model=KeyOut,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_ADMINS],
)
def revoke_key(context: Ctx, key_id: Id) -> Any:
    """Revoke a key at once. It stays in the list; a second call changes nothing."""
    return key_document(keys.revoke(context, key_id))


@router.post(
    "/runs/{run_id}/keys",
    status_code=201,
    response_model=KeyCreated,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_RESEARCHERS],
)
def create_run_key(context: Ctx, run_id: Id, body: RunKeyIn) -> Any:
    """Make a further key of a run, and revoke the others if asked; only this answer shows it."""
    made = keys.create_for_run(context, run_id, revoke_others=body.revoke_others)
    return new_key_document(made)
