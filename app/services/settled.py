"""Who waits for which submission to be settled: no thread, no transaction, no polling."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator


class Settled:
    """Requests of the event loop wait here; the grading loop announces from its own threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    @contextlib.contextmanager
    def expect(self, submission_id: str) -> Iterator[asyncio.Event]:
        """An event that is set once the submission is settled; register before it is queued."""
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiting.setdefault(submission_id, []).append(entry)
        try:
            yield event
        finally:
            with self._lock:
                entries = self._waiting.get(submission_id, [])
                if entry in entries:
                    entries.remove(entry)
                if not entries:
                    self._waiting.pop(submission_id, None)

    def announce(self, submission_id: str) -> None:
        """Wake whoever waits for this submission. Callable from any thread."""
        with self._lock:
            entries = self._waiting.pop(submission_id, [])
        for loop, event in entries:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(event.set)
