"""HEAD on every route that has GET: the same status and headers, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_HEAD = "/api/"  # Kaggle's routes answer HEAD themselves


class _HeadSent(BaseException):
    """Ends a request whose answer has more parts. Starlette's handlers do not catch it."""


class HeadRequests:
    """ASGI middleware that serves HEAD as GET and leaves out the body.

    An answer in parts (a file, an event stream) is ended after its head, so that no file is read.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        if not is_head or scope["path"].startswith(OWN_HEAD):
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
                return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            if message.get("more_body"):
                raise _HeadSent

        inner = {**scope, "method": "GET"}  # a copy: uvicorn sends no body if its own says HEAD
        try:
            await self._app(inner, receive, send_head)
        except _HeadSent:
            pass
        except BaseExceptionGroup as group:
            _, others = group.split(_HeadSent)
            if others is not None:
                raise others from None
        finally:
            scope.update({**inner, "method": "HEAD"})  # the log reads the route in it
