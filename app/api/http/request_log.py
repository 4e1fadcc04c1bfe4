"""Every request gets an id, one structured log line and a count in the metrics."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import MutableMapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.prometheus_metrics import REQUEST_SECONDS, REQUESTS

log = logging.getLogger("podium.http")
request_id: ContextVar[str] = ContextVar("request_id", default="-")
HEADER = b"x-request-id"
ACCEPTABLE = re.compile(rb"[A-Za-z0-9._-]{1,64}")
QUIET = frozenset({"/healthz", "/readyz", "/health", "/metrics"})
KEPT = 1024  # combinations of method, route and status whose metrics are cached
CALLER = "podium.caller"  # of a request's scope: the id and the role of its key


def note_caller(scope: MutableMapping[str, Any], key_id: str, role: str) -> None:
    """Remember who sent a request, for its log line."""
    scope[CALLER] = {"key": key_id, "role": role}


class RequestRecorder:
    """ASGI middleware; plain, because Starlette's BaseHTTPMiddleware costs a task per request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, then log and count it with its duration."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == HEADER), b"")
        # An id has no count, which would show how many requests others send, and when.
        identity = given if ACCEPTABLE.fullmatch(given) else secrets.token_hex(8).encode()
        token = request_id.set(identity.decode())
        started = time.perf_counter()
        status = 0

        async def recording_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (HEADER, identity)]
            await send(message)

        try:
            await self._app(scope, receive, recording_send)
        finally:
            _record(scope, status, time.perf_counter() - started)
            request_id.reset(token)


@lru_cache(KEPT)
def _of_requests(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    """The metrics of such requests, cached, since finding them by their labels is slow."""
    return REQUESTS.labels(method, route, status), REQUEST_SECONDS.labels(route)


def _record(scope: Scope, status: int, seconds: float) -> None:
    # The route's pattern, not the path: paths are unlimited, labels must be few.
    route = getattr(scope.get("route"), "path", "unknown")
    count, times = _of_requests(scope["method"], route, status)
    count.inc()
    times.observe(seconds)
    if route not in QUIET:
        log.info(
            "request",
            extra={
                "method": scope["method"],
                "path": scope["path"][:300],
                "status": status,
                "ms": round(seconds * 1000, 2),
                **scope.get(CALLER, {}),
            },
        )
