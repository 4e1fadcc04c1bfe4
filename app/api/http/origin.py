"""The address at which a client reached Podium, and redirects that do not need it."""

from __future__ import annotations

import re

from fastapi import Request
from starlette.responses import RedirectResponse
from starlette.routing import Match, Router
from starlette.types import Receive, Scope, Send

from app.errors import BadRequest

ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
ORIGIN_HEADER = "X-Podium-Origin"  # the address of `podium proxy`, which it adds to requests


def origin(request: Request) -> str:
    """Scheme and host as the client wrote them, for addresses in answers to this client."""
    host = request.headers.get("Host", "")
    found = request.headers.get(ORIGIN_HEADER) or f"{request.url.scheme}://{host}"
    if not ORIGIN.fullmatch(found):
        raise BadRequest("The Host header does not name a host.")
    return found


def redirect_without_slash(router: Router) -> None:
    """Let a router redirect from an address with a slash at its end to the same one without it.

    The redirect is relative. Starlette's own names the Host of the request, and behind a proxy that
    is a server which the client may not reach.
    """

    async def redirect(scope: Scope, receive: Receive, send: Send) -> None:
        parent, _, last = scope["raw_path"].decode("latin-1").rpartition("/")
        other = {**scope, "path": scope["path"].removesuffix("/")}
        if last or all(route.matches(other)[0] is Match.NONE for route in router.routes):
            await router.not_found(scope, receive, send)
            return
        other_address = f"../{parent.rpartition('/')[2]}"
        query = scope["query_string"].decode("latin-1")
        response = RedirectResponse(f"{other_address}?{query}" if query else other_address)
        await response(scope, receive, send)

    router.redirect_slashes = False
    router.default = redirect
