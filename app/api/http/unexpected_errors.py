"""Answer errors that nobody expected, below the middleware that knows the request."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class UnexpectedErrors:
    """ASGI middleware: calls the application's handler of `Exception`.

    Starlette calls it outside of all middleware: there the request has no id any more, its answer
    gets no headers, the log and the metrics no status, and the connection ends after it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. An error after the answer began is raised: it cannot be answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def noting_send(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        except Exception as error:
            if has_begun:
                raise
            handler = scope["app"].exception_handlers[Exception]
            response = await handler(Request(scope, receive), error)
            await response(scope, receive, send)
