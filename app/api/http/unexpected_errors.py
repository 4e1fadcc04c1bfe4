"""Answer errors that nobody expected, below the middleware that knows the request.

Some come from the system: a full disk, or a limit that was reached.
"""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import PodiumError, StorageFull, Unavailable
from app.system_limits import is_disk_full, is_used_up

log = logging.getLogger("podium.api")
RETRY_SECONDS = 5


class UnexpectedErrors:
    """ASGI middleware: calls the application's handler of `Exception`.

    Starlette calls the handler outside of all middleware. There the request has no id, its answer
    gets no headers, the log and the metrics get no status, and the connection is closed after it.
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


def of_the_system(error: BaseException) -> PodiumError | None:
    """The error of the system as one of Podium's, which says what to do; None for other errors.

    It is logged if the operator has to know of it.
    """
    if isinstance(error, OSError) and is_disk_full(error):
        name = error.filename2 or error.filename or "PODIUM_DATA_DIR"
        return StorageFull(
            f"The disk of {name} is full; nothing was stored.",
            for_strangers="A disk of this Podium is full; nothing was stored.",
        )
    if is_used_up(error):
        log.error("a limit of the system was reached", extra={"error": str(error) or "memory"})
        return Unavailable(
            "The system gives this Podium no more open files, threads or memory at the moment; try "
            "again.",
            RETRY_SECONDS,
        )
    return None
