"""Find the caller of a request before its body is read, and check the key again after it.

FastAPI reads a body before it resolves dependencies. Without this, a stranger's body would be read
and parsed before the answer 401.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.api.dependencies import IDENTIFIED, KeyScheme, sent_key
from app.api.http.body_limit import BodyRefused
from app.api.http.request_log import CALLER, note_caller
from app.api.http.threads import run_in_thread
from app.errors import PodiumError
from app.services.auth import identify
from app.services.login import require_valid


async def admit(scope: MutableMapping[str, Any]) -> str | None:
    """The id of the key of a request, or None if its route needs no key.

    Raises:
        BodyRefused: the route needs a key, and this one is missing or not valid.
    """
    if CALLER in scope:  # a dependency found it
        key_id: str = scope[CALLER]["key"]
        return key_id
    route = scope.get("route")
    if not (isinstance(route, APIRoute) and _reads_key(route.dependant)):
        return None
    request = Request(scope)
    try:
        found = await run_in_thread(identify, request.app.state.context, sent_key(request))
    except PodiumError as refusal:
        raise BodyRefused(refusal) from None
    except Exception as error:  # else FastAPI would say that the body cannot be parsed
        raise BodyRefused(PodiumError()) from error
    note_caller(scope, found.key_id, found.role.value)
    scope[IDENTIFIED] = found
    return found.key_id


async def confirm(scope: MutableMapping[str, Any]) -> None:
    """Refuse a request whose key has ended since it was found.

    Raises:
        BodyRefused: it was revoked, has expired, or its run was archived.
    """
    if CALLER not in scope:  # the route needs no key, or has not asked for it yet
        return
    try:
        await run_in_thread(require_valid, Request(scope).app.state.context, scope[CALLER]["key"])
    except PodiumError as refusal:
        raise BodyRefused(refusal) from None


def _reads_key(dependant: Dependant) -> bool:
    return isinstance(dependant.call, KeyScheme) or any(map(_reads_key, dependant.dependencies))
