"""Who waits for which news: no thread is held, no transaction, and no table is polled."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator


class Notifications:
    """Requests of the event loop wait here for news of an id; other threads announce it.

    A submission's id is announced when the submission is settled, a run's id when anything of the
    run changed; see `app.storage.database.notify`. Being woken is a reason to look, not a promise.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}
        self.is_closed = False

    @contextlib.contextmanager
    def subscribe(self, topic: str) -> Iterator[asyncio.Event]:
        """An event that is set by news of an id: begin before it can come, clear to go on."""
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
        """Wake whoever waits for one of these ids. Callable from any thread."""
        awake = defaultdict(list)
        with self._lock:
            for topic in topics:
                for loop, event in self._waiting.get(topic, ()):
                    awake[loop].append(event)
        for loop, events in awake.items():
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_set_all, events)

    def close(self) -> None:
        """Wake everybody, since the server ends: each looks at what is there by now, and goes."""
        self.is_closed = True
        self.notify(self.awaited())

    def awaited(self) -> list[str]:
        """The ids that somebody waits for."""
        with self._lock:
            return list(self._waiting)


def _set_all(events: list[asyncio.Event]) -> None:
    for event in events:
        event.set()
