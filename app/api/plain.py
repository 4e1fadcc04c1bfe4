"""Routes without FastAPI's dependency solving, for what must be fast.

An endpoint takes the request and gives the response. What it reads of the request, and what it
answers, is said in `openapi_extra` and `responses`, and held to the truth by tests.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute


class PlainRoute(APIRoute):
    """A route whose endpoint is its handler."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler
