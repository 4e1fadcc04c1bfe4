"""The state of this Podium, its faults and its keys, for admins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import FOR_ADMINS, Anyone, Ctx, Cursor, Id
from app.errors import NotFound
from app.services.operations import faults, health, keys
from app.services.operations.queue_state import queue_state
from app.web.csv_twin import CSV_TWIN
from app.web.forms import ADMIN_FORM, form_token
from app.web.rendering import page
from app.web.table_rows import fields_of

router = APIRouter(include_in_schema=False, dependencies=[FOR_ADMINS, CSV_TWIN])
forms = APIRouter(include_in_schema=False, dependencies=[ADMIN_FORM])
FAULTS = 100
KEYS = 200
FAULT = ("at", "submission", "competition", "attempt", "kind", "place")
HOLDER = ("id", "role", "name", "run_id", "experiment", "created_at", "expires_at", "revoked_at")
Before = Annotated[int | None, Query(ge=1, le=2**62)]


@router.get("/operations", response_class=HTMLResponse)
def show_operations(
    request: Request, context: Ctx, caller: Anyone, before: Before = None
) -> Response:
    """The queue, the parts of this Podium, and the latest faults."""
    found, after = faults.page(context, None, before, FAULTS)
    return page(
        request, caller, "operations.html", title="Operations", twin="/v1/faults",
        readiness=health.readiness(context), queue=queue_state(context), faults=found,
        after=after, is_first=before is None, settings=context.settings, live=before is None,
        table=lambda: fields_of(found, *FAULT),
    )  # fmt: skip


@router.get("/operations/keys", response_class=HTMLResponse)
def list_keys(request: Request, context: Ctx, caller: Anyone, cursor: Cursor = None) -> Response:
    """The holders of keys, never the keys."""
    found, after = keys.page(context, after=cursor, limit=KEYS)
    return page(
        request, caller, "keys.html", title="Keys", twin="/v1/keys", found=found, after=after,
        own=caller.key_id, table=lambda: fields_of(found, *HOLDER),
    )  # fmt: skip


@router.get("/operations/keys/{key_id}/revoke", response_class=HTMLResponse)
def confirm_revoke(request: Request, context: Ctx, caller: Anyone, key_id: Id) -> Response:
    """Ask whether the key is to be revoked."""
    one = keys.find(context, key_id)
    if one is None:
        raise NotFound(f"There is no key {key_id!r}.")
    own = " It is the key of your own login: you will be logged out." * (key_id == caller.key_id)
    return page(
        request, caller, "confirm.html", title="Revoke a key", twin="/v1/keys",
        action=f"/operations/keys/{key_id}/revoke", back="/operations/keys",
        button="Revoke the key", about=f"{one.role.value} {one.name or one.id}",
        effect=f"Whoever holds it is refused from then on. This cannot be undone.{own}",
        token=form_token(request),
    )  # fmt: skip


@forms.post("/operations/keys/{key_id}/revoke")
def revoke_key(context: Ctx, key_id: Id) -> Response:
    """Revoke the key."""
    keys.revoke(context, key_id)
    return RedirectResponse("/operations/keys", 303)
