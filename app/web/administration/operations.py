"""The state of this Podium, its faults and its keys, for admins."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import FOR_ADMINS, Anyone, Ctx, Cursor, Id
from app.errors import NotFound
from app.services.operations import faults, health, keys
from app.services.operations.queue_state import queue_state
from app.web.page_data.facts import shown_facts
from app.web.page_data.formats import PAGE_FORMAT
from app.web.page_data.paging import Shown
from app.web.page_data.rows import fields_of
from app.web.rendering.fill_templates import page
from app.web.rendering.formats import when
from app.web.rendering.forms import ADMIN_FORM, form_token

router = APIRouter(include_in_schema=False, dependencies=[FOR_ADMINS, PAGE_FORMAT])
forms = APIRouter(include_in_schema=False, dependencies=[ADMIN_FORM])
FAULTS = 100
KEYS = 100
FAULT = ("at", "submission", "competition", "attempt", "kind", "place")
HOLDER = ("id", "role", "name", "run_id", "experiment", "created_at", "expires_at", "revoked_at")
Before = Annotated[int | None, Query(ge=1, le=2**62)]


@router.get("/operations", response_class=HTMLResponse)
def show_operations(
    request: Request, context: Ctx, caller: Anyone, before: Before = None
) -> Response:
    """The queue, the parts of this Podium, and the latest faults."""
    found, after = faults.page(context, None, before, FAULTS)
    readiness = health.readiness(context, lambda: True)  # an admin reads it
    queue = queue_state(context)
    return page(
        request, caller, "operations.html", title="Operations", api="/v1/faults",
        readiness=readiness, queue=queue, faults=found, notes=faults.notes(found),
        after=after, is_first=before is None, settings=context.settings, live=before is None,
        at=datetime.now(UTC),
        table=lambda: fields_of(found, *FAULT),
        facts=lambda: {
            "is_ready": readiness.is_ready, "readiness": readiness, "queue": queue,
            "next_before": after,
        },
    )  # fmt: skip


@router.get("/operations/keys", response_class=HTMLResponse)
def list_keys(request: Request, context: Ctx, caller: Anyone, cursor: Cursor = None) -> Response:
    """The holders of keys, never the keys."""
    found, after = keys.page(context, after=cursor, limit=KEYS)
    before, total = keys.count(context, after=cursor)
    shown = Shown(before, len(found), total)
    return page(
        request, caller, "keys.html", title="Keys", api="/v1/keys", found=found, after=after,
        own=caller.key_id, shown=shown, is_first=cursor is None,
        table=lambda: fields_of(found, *HOLDER),
        facts=lambda: shown_facts(shown, after),
    )  # fmt: skip


@router.get("/operations/keys/{key_id}/revoke", response_class=HTMLResponse)
def confirm_revoke(request: Request, context: Ctx, caller: Anyone, key_id: Id) -> Response:
    """Ask whether the key is to be revoked."""
    one = keys.find(context, key_id)
    if one is None:
        raise NotFound(f"There is no key {key_id!r}.")
    own = " It is the key of your own login: you will be logged out." * (key_id == caller.key_id)
    return page(
        request, caller, "confirm.html", title="Revoke a key", api="/v1/keys",
        done=f"It was revoked at {when(one.revoked_at)} UTC, so there is nothing to do."
        if one.revoked_at else "",
        action=f"/operations/keys/{key_id}/revoke", back="/operations/keys",
        button="Revoke the key",
        about=f"{one.role.value} {one.id}, made at {when(one.created_at)} UTC: {one.name or '–'}",
        effect=f"Requests with it are refused from then on. This cannot be undone.{own}",
        token=form_token(request),
    )  # fmt: skip


@forms.post("/operations/keys/{key_id}/revoke")
def revoke_key(context: Ctx, key_id: Id) -> Response:
    """Revoke the key."""
    keys.revoke(context, key_id)
    return RedirectResponse("/operations/keys", 303)
