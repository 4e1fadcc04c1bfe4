"""Wake waiting requests when a submission or a run changes, without polling the database."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator


class Notifications:
    """Coroutines subscribe to an id; other threads notify of it.

    A submission's id is notified when the submission is settled, a run's id when anything of the
    run changes; see `app.storage.database.notify`. A woken coroutine must read the rows: there are
    spurious wake-ups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}
        self.is_closed = False

    @contextlib.contextmanager
    def subscribe(self, topic: str) -> Iterator[asyncio.Event]:
        """An event that is set when the id is notified.

        Subscribe before the change can happen. Clear the event to wait for the next change.
        """
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiting.setdefault(topic, []).append(entry)
        try:
            yield event
        finally:
            with self._lock:
                entries = self._waiting[topic]
                entries.remove(entry)
                if not entries:
                    del self._waiting[topic]

    def notify(self, topics: Iterable[str]) -> None:
        """Wake the subscribers of these ids. Callable from any thread."""
        awake = defaultdict(list)
        with self._lock:
            for topic in topics:
                for loop, event in self._waiting.get(topic, ()):
                    awake[loop].append(event)
        for loop, events in awake.items():
            with contextlib.suppress(RuntimeError):  # the loop is closed: it has no subscribers
                loop.call_soon_threadsafe(_set_all, events)

    def close(self) -> None:
        """Wake all subscribers because the server stops. Each reads the rows once more and ends."""
        self.is_closed = True
        self.notify(self.awaited())

    def awaited(self) -> list[str]:
        """The ids that have subscribers."""
        with self._lock:
            return list(self._waiting)


def _set_all(events: list[asyncio.Event]) -> None:
    for event in events:
        event.set()
