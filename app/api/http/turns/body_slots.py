"""Limits of bodies in memory: a parsed JSON body takes up to thirty times its bytes.

There is one budget for bodies that are being received, and one for complete bodies. So clients that
send slowly do not delay complete bodies. Each holder of a key has a few slots to receive bodies.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from functools import partial

RECEIVED_BYTES = 32 * 1024 * 1024  # the limit for all large bodies that are being received
HOLDER_BYTES = 2 * 1024 * 1024  # the same for the bodies of one key
UPLOADS = 16  # files that a key may send at once; a run's key may send a quarter of them
WORKED_BYTES = 512 * 1024  # the limit for complete bodies, from their parsing to the answer
ALL_UPLOADS = 1_000_000  # in effect no limit, since connections are limited
Release = Callable[[], None]


class Budget:
    """A number of bytes that may be used at once, in all and by one holder; others wait in order.

    Only the event loop's thread may use it. A body larger than the budget waits until it is alone.
    """

    def __init__(self, most: int, of_holder: int) -> None:
        self._most = most
        self._of_holder = of_holder
        self._used: Counter[str] = Counter()
        self._total = 0
        self._waiting: deque[tuple[str, int, asyncio.Future[None]]] = deque()

    async def take(self, holder: str, size: int) -> Release:
        """Wait for `size` bytes. Returns a function that releases them once."""
        if self._waiting or self._is_full(size) or self._has_all(holder, size):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append((holder, size, turn))
            self._wake()
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._give(holder, size)
                raise
        else:
            self._count(holder, size)
        return _once(partial(self._give, holder, size))

    def _is_full(self, size: int) -> bool:
        return self._total > 0 and self._total + size > self._most

    def _has_all(self, holder: str, size: int) -> bool:
        used = self._used[holder]
        return used > 0 and used + size > self._of_holder

    def _count(self, holder: str, size: int) -> None:
        self._used[holder] += size
        self._total += size

    def _give(self, holder: str, size: int) -> None:
        self._count(holder, -size)
        if not self._used[holder]:
            del self._used[holder]
        self._wake()

    def _wake(self) -> None:
        """Let waiting requests begin, the oldest first, except those of holders at their limit."""
        passed: deque[tuple[str, int, asyncio.Future[None]]] = deque()
        while self._waiting:
            holder, size, turn = self._waiting[0]
            if turn.cancelled():
                self._waiting.popleft()
            elif self._is_full(size):
                break
            elif self._has_all(holder, size):
                passed.append(self._waiting.popleft())
            else:
                self._waiting.popleft()
                self._count(holder, size)
                turn.set_result(None)
        self._waiting.extendleft(reversed(passed))


def _once(release: Release) -> Release:
    left = [release]

    def give() -> None:
        if left:
            left.pop()()

    return give


class BodySlots:
    """The budgets of a server."""

    def __init__(self) -> None:
        self.receiving = Budget(RECEIVED_BYTES, HOLDER_BYTES)
        self.uploads = Budget(ALL_UPLOADS, UPLOADS)
        self.working = Budget(WORKED_BYTES, WORKED_BYTES)
        self.reports = Budget(1, 1)
