"""Headers by which a browser treats an answer as data: pages alone may be more than that."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = b"content-security-policy"
# A file that somebody uploaded may be HTML. A browser that opens it runs nothing of it, and gives
# it no part in the login of the reader.
AS_DATA = (POLICY, b"default-src 'none'; frame-ancestors 'none'; sandbox")
NO_SNIFFING = (b"x-content-type-options", b"nosniff")


class SecurityHeaders:
    """ASGI middleware that adds these headers; a Content-Security-Policy only where none is set."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), NO_SNIFFING]
                if not any(name == POLICY for name, _ in headers):
                    headers.append(AS_DATA)
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, send_with_headers)
