"""A bound of every request's body, unless the route allows more.

FastAPI reads a JSON body into memory before it checks the key. Routes for files stream them, and
set their own bound with `allow_body`.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 256 * 1024
LIMIT = "podium.max_body_bytes"  # key in the scope


def allow_body(scope: Scope, max_bytes: int) -> None:
    """Accept a body of `max_bytes` for this request."""
    scope[LIMIT] = max_bytes


class BodyLimit:
    """ASGI middleware that answers 413 when a body exceeds its bound."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[LIMIT] = MAX_BODY_BYTES
        size = 0

        async def bounded_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > scope[LIMIT]:
                raise HTTPException(
                    413,
                    f"The body is larger than the {scope[LIMIT]} bytes that this route accepts.",
                )
            return message

        await self._app(scope, bounded_receive, send)
