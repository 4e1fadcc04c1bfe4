"""Headers that make a browser treat every answer except pages as data.

Another one keeps caches from giving the answer to a key or a login to others.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = b"content-security-policy"
# An uploaded file may be HTML. A browser that opens it runs no script of it, and gives it no access
# to the reader's login.
AS_DATA = (POLICY, b"default-src 'none'; frame-ancestors 'none'; sandbox")
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
CACHE_CONTROL = b"cache-control"
# Without it a cache may derive from Last-Modified how long it keeps an answer, and give it to the
# next reader; a browser may show it after the log-out. With it both ask again, by the ETag.
ONE_READER = "private, no-cache"
FOR_ONE_READER = (CACHE_CONTROL, ONE_READER.encode())
CREDENTIALS = frozenset({b"authorization", b"cookie"})


class SecurityHeaders:
    """ASGI middleware that adds these headers; a policy or Cache-Control only if none is set."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_for_one = any(name in CREDENTIALS for name, _ in scope["headers"])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), NO_SNIFFING]
                names = {name for name, _ in headers}
                if POLICY not in names:
                    headers.append(AS_DATA)
                if is_for_one and CACHE_CONTROL not in names:
                    headers.append(FOR_ONE_READER)
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, send_with_headers)
