"""Routes without FastAPI's dependencies, for requests that must be fast.

An endpoint gets the request and returns the response. `openapi_extra` and `responses` describe its
parameters and answers; tests compare them with real answers.

Why: docs/decisions/0022-routes-without-dependencies.md.
"""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send


class RawRoute(APIRoute):
    """A route that calls its endpoint directly; the application's handlers answer its errors."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the endpoint and send its response."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        response: Response = await self.endpoint(Request(scope, receive, send))
        await response(scope, receive, send)
