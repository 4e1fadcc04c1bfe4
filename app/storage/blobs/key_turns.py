"""Turns of threads that need the same file: one fetches it, and the others wait for the result."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from app.errors import PodiumError


@dataclass
class Turn:
    """The turn of a key, the number of threads that need it, and the failure that they share."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    wanted: int = 0
    failure: PodiumError | None = None


class KeyTurns:
    """A lock for each key, as long as a thread needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[Hashable, Turn] = {}

    @contextlib.contextmanager
    def turn(self, key: Hashable) -> Iterator[Turn]:
        """Wait for the turn of `key`, and hold it."""
        with self._lock:
            turn = self._turns.setdefault(key, Turn())
            turn.wanted += 1
        try:
            with turn.lock:
                yield turn
        finally:
            with self._lock:
                turn.wanted -= 1
                if not turn.wanted:
                    del self._turns[key]
