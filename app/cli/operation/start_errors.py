"""The reason why an application did not start, without a traceback if it is expected."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.cli.system_errors import in_words
from app.errors import PodiumError


class StartErrors:
    """The application, as uvicorn calls it.

    If an expected error ends the start, it is kept in `error`, and uvicorn logs no traceback of it:
    the command reports it as it reports others.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.error: PodiumError | None = None
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Call the application."""
        if scope["type"] != "lifespan":
            return self._app(scope, receive, send)

        async def keep(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                # Starlette sends this while it handles the error.
                self.error = _expected(sys.exc_info()[1])
                if self.error is not None:
                    message = {**message, "message": ""}
            await send(message)

        return self._app(scope, receive, keep)


def _expected(error: Any) -> PodiumError | None:
    if isinstance(error, PodiumError):
        return error
    return in_words(error) if isinstance(error, Exception) else None
