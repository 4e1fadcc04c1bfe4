"""Combine many small writes of one kind into one write."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session

from app.storage.database.writer import Writer

log = logging.getLogger("podium.storage")
Item = TypeVar("Item")
Result = TypeVar("Result")
Waiting = list[tuple[Any, "Future[Any]"]]


class WriteBatch(Generic[Item, Result]):
    """Collects items until the writer is free, then passes them all to one function.

    `handle(session, items)` returns a result for each item, or an exception for an item that it
    refuses and for which it wrote nothing. It may run more than once, like every function of the
    writer. One statement with many rows costs a fraction of many statements.

    Items of a batch that failed are tried one by one, by `again` if it is given: if the answer to a
    commit was lost, their rows may exist already.
    """

    def __init__(
        self,
        writer: Writer,
        handle: Callable[[Session, list[Item]], Sequence[Result | Exception]],
        again: Callable[[Session, list[Item]], Sequence[Result | Exception]] | None = None,
    ) -> None:
        self._writer = writer
        self._handle = handle
        self._again = again or handle
        self._lock = threading.Lock()
        self._waiting: Waiting = []

    def add(self, item: Item) -> Future[Result]:
        """Add an item. Its future is done once its result is committed."""
        future: Future[Result] = Future()
        future.set_running_or_notify_cancel()  # nobody who waits for it can cancel it any more
        with self._lock:
            self._waiting.append((item, future))
            is_first = len(self._waiting) == 1
        if is_first:  # items added before the writer is free join the same batch
            self._write(self._take_waiting, self._handle)
        return future

    def _take_waiting(self) -> Waiting:
        with self._lock:
            members_taken, self._waiting = self._waiting, []
        return members_taken

    def _write(
        self,
        take_members: Callable[[], Waiting],
        handle: Callable[[Session, list[Item]], Sequence[Result | Exception]],
    ) -> None:
        members_taken: Waiting | None = None

        def flush(session: Session) -> Sequence[Result | Exception]:
            nonlocal members_taken
            if members_taken is None:
                members_taken = take_members()
            return handle(session, [item for item, _ in members_taken])

        def resolve_members(written: Future[Sequence[Result | Exception]]) -> None:
            members = take_members() if members_taken is None else members_taken
            error = None if written.cancelled() else written.exception()
            if written.cancelled() or (error is not None and len(members) == 1):
                for _, future in members:
                    future.set_exception(error or RuntimeError("the database was closed"))
            elif error is not None:
                # One item failed the batch, or the database is away: try each item alone.
                log.warning("trying %d writes one by one: %r", len(members), error)
                for member in members:
                    self._write(lambda member=member: [member], self._again)  # type: ignore[misc]
            else:
                for (_, future), result in zip(members, written.result(), strict=True):
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)

        self._writer.enqueue(flush).add_done_callback(resolve_members)
