"""Many small writes of one kind as one: what waits for the writer is handled together."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session

from app.storage.database.database import Database

log = logging.getLogger("podium.storage")
Item = TypeVar("Item")
Result = TypeVar("Result")
Waiting = list[tuple[Any, "Future[Any]"]]


class Batch(Generic[Item, Result]):
    """Collects items until the writer is free, then hands them all to one function.

    `handle(session, items)` returns a result for each item, or an exception for one that it
    refuses without having written anything for it. It may be run more than once, like every
    function of the writer. One statement with many rows costs a fraction of many statements.
    """

    def __init__(
        self,
        database: Database,
        handle: Callable[[Session, list[Item]], Sequence[Result | Exception]],
    ) -> None:
        self._database = database
        self._handle = handle
        self._lock = threading.Lock()
        self._waiting: Waiting = []

    def add(self, item: Item) -> Future[Result]:
        """Hand in an item; its future is done once what came of it is committed."""
        future: Future[Result] = Future()
        with self._lock:
            self._waiting.append((item, future))
            is_first = len(self._waiting) == 1
        if is_first:  # whoever comes before the writer has time goes along with this one
            self._write(self._take)
        return future

    def _take(self) -> Waiting:
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken

    def _write(self, take: Callable[[], Waiting]) -> None:
        taken: Waiting | None = None

        def flush(session: Session) -> Sequence[Result | Exception]:
            nonlocal taken
            if taken is None:
                taken = take()
            return self._handle(session, [item for item, _ in taken])

        def tell(written: Future[Sequence[Result | Exception]]) -> None:
            members = take() if taken is None else taken
            error = None if written.cancelled() else written.exception()
            if written.cancelled() or (error is not None and len(members) == 1):
                for _, future in members:
                    future.set_exception(error or RuntimeError("the database was closed"))
            elif error is not None:
                # One of them spoilt it for all, or the database is away: each is tried alone.
                log.warning("%d writes are tried one by one: %r", len(members), error)
                for member in members:
                    self._write(lambda member=member: [member])  # type: ignore[misc]
            else:
                for (_, future), result in zip(members, written.result(), strict=True):
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)

        self._database.enqueue(flush).add_done_callback(tell)
