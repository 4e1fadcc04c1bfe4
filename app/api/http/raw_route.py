"""Routes without FastAPI's dependency solving, for what must be fast.

An endpoint takes the request and gives the response. What it reads of the request, and what it
answers, is said in `openapi_extra` and `responses`, and held to the truth by tests.
"""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send


class RawRoute(APIRoute):
    """A route whose endpoint is its handler; what it raises, the application's handlers tell."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the endpoint answer."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        response: Response = await self.endpoint(Request(scope, receive, send))
        await response(scope, receive, send)
