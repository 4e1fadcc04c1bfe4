"""All open connections of a server: how many, of which address, and which are closed first."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

log = logging.getLogger("podium.api")
CHECK_SECONDS = 1.0
AT_ONCE_SECONDS = 0.1  # a client is expected to send the head of its request within this time
LOOKED_AT_SECONDS = 0.05  # between two searches of all connections of an address that has too many
MOST_AT_ONCE = 50  # waiting requests whose connections one such search may close
MOST_UNSENT_BYTES = 64 * 1024 * 1024  # beyond this sum over all connections, some are closed


@dataclass(frozen=True, slots=True)
class ConnectionBounds:
    """The bounds of connections: their number, and times."""

    most: int
    of_address: int  # connections of one address
    head_seconds: float  # until the head of a request is complete
    idle_seconds: float  # without a byte of a body, or while a client reads nothing


class Connection(Protocol):
    """A connection, as far as the limit must know it."""

    address: str
    loop: asyncio.AbstractEventLoop
    since: float

    @property
    def holder(self) -> str:
        """The holder of the key, or the address, to which it sends answers."""

    @property
    def waits_for_turn(self) -> bool:
        """Whether its request waits for others of its sender, or of other strangers."""

    @property
    def stalled_since(self) -> float | None:
        """Since when the client has read nothing of what waits to be sent."""

    def owes_bytes(self) -> bool:
        """Whether the connection waits for bytes from the client."""

    def unsent(self) -> int:
        """Bytes that the client has not read."""

    def check(self, now: float) -> None:
        """Close the connection if the client is late."""

    def abort(self) -> None:
        """Close the connection at once."""


class ConnectionLimit:
    """The open connections of a server. Only the event loop's thread may use it.

    Beyond a limit, a new connection replaces another one, the first that exists of:

    - one whose client does not read its answers
    - the one without a valid key whose request has been incomplete for longest
    - one whose request waits for its turn
    - the one with a valid key that has been idle for longest

    If all are being answered, the new connection is closed.
    """

    def __init__(self, bounds: ConnectionBounds) -> None:
        self.bounds = bounds
        self._open: set[Connection] = set()
        self._of_address: Counter[str] = Counter()
        self._sending: dict[Connection, None] = {}  # those with many unsent bytes, oldest first
        # By address; the key None has those of all addresses.
        self._replaceable: dict[str | None, _Replaceable] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> None:
        """Count a new connection, and close another if there are too many."""
        self._open.add(connection)
        self._of_address[connection.address] += 1
        if self._of_address[connection.address] > self.bounds.of_address:
            self._replace(connection, connection.address)
        elif len(self._open) > self.bounds.most:
            self._replace(connection, None)
        if self._timer is None:
            self._timer = connection.loop.call_later(CHECK_SECONDS, self._check, connection.loop)

    def remove(self, connection: Connection) -> None:
        """Forget a connection that was closed."""
        if connection not in self._open:
            return
        self._open.discard(connection)
        self._sending.pop(connection, None)
        self._of_address[connection.address] -= 1
        if not self._of_address[connection.address]:
            del self._of_address[connection.address]

    def count_unsent(self, connection: Connection) -> None:
        """Count a connection that has many bytes to send, and close others if they are too many.

        It does so at once: slow clients could have hundreds of megabytes within a second.
        """
        self._sending[connection] = None
        self._bound_unsent(connection)

    def forget_unsent(self, connection: Connection) -> None:
        """Forget a connection whose client has read nearly all."""
        self._sending.pop(connection, None)

    def _abort(self, connection: Connection) -> None:
        self.remove(connection)  # before its transport says so: others may connect until then
        connection.abort()

    def _replace(self, newest: Connection, address: str | None) -> None:
        """Close the least useful connection of this address, or of all: `newest` if all are useful.

        All are searched once in LOOKED_AT_SECONDS, because a search takes milliseconds, and
        somebody may connect again whenever one is closed.
        """
        known = self._replaceable.get(address)
        one = None if known is None else known.next(self._open)
        if known is None or (one is None and known.is_over()):
            of_all = address is None
            same = [one for one in self._open if of_all or one.address == address]
            known = self._replaceable[address] = _least_useful(same, newest)
            one = known.next(self._open)
        self._abort(one or newest)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(CHECK_SECONDS, self._check, loop) if self._open else None
        now = time.monotonic()
        self._replaceable.clear()
        for connection in list(self._open):
            try:
                connection.check(now)
            except Exception:  # it must not end the checks of the others
                log.exception("cannot check a connection")

    def _bound_unsent(self, newest: Connection) -> None:
        """Close connections while too many bytes wait to be sent; never `newest`.

        Those that have stalled for longest are closed first, then the oldest of the holder with the
        most unsent bytes. All connections are searched: those that are not counted have less than
        64 KiB each, but there may be thousands.
        """
        others = dict.fromkeys((*self._sending, *self._open))
        unsent = {one: size for one in others if (size := one.unsent())}
        total = sum(unsent.values())
        if total <= MOST_UNSENT_BYTES:
            return
        of_holder = Counter({newest.holder: unsent.pop(newest, 0)})
        stalled = [one for one in unsent if one.stalled_since is not None]
        for one in sorted(stalled, key=lambda one: one.stalled_since or 0.0):
            if total <= MOST_UNSENT_BYTES:
                return
            total -= unsent.pop(one)
            self._abort(one)
        waiting: dict[str, deque[Connection]] = {}
        for one, size in unsent.items():
            holder = one.holder
            of_holder[holder] += size
            waiting.setdefault(holder, deque()).append(one)
        while total > MOST_UNSENT_BYTES and waiting:
            holder = max(waiting, key=of_holder.__getitem__)
            closed = waiting[holder].popleft()
            if not waiting[holder]:
                del waiting[holder]
            total -= unsent[closed]
            of_holder[holder] -= unsent[closed]
            self._abort(closed)


class _Replaceable:
    """Connections that new ones replace, in this order, unless they have changed since."""

    def __init__(self, ordered: Iterable[Connection], still: Callable[[Connection], bool]) -> None:
        self._waiting = deque((one, one.since) for one in ordered)
        self._had_none = not self._waiting
        self._still = still
        self._until = time.monotonic() + LOOKED_AT_SECONDS

    def next(self, opened: Container[Connection]) -> Connection | None:
        """The next one; None if there is none, or if all have to be searched again."""
        while self._waiting and time.monotonic() < self._until:
            one, since = self._waiting.popleft()
            if one in opened and one.since == since and self._still(one):
                return one
        return None

    def is_over(self) -> bool:
        """Whether all have to be searched again: after some time, or when these are used up."""
        return time.monotonic() >= self._until or not (self._waiting or self._had_none)


def _least_useful(candidates: Sequence[Connection], newest: Connection) -> _Replaceable:
    stalled = [one for one in candidates if one.stalled_since is not None]
    if stalled:
        stalled.sort(key=lambda one: one.stalled_since or 0.0)
        return _Replaceable(stalled, lambda one: one.stalled_since is not None)
    owing = [one for one in candidates if one is not newest and one.owes_bytes()]
    late = time.monotonic() - AT_ONCE_SECONDS  # later clients may be about to send
    silent = [one for one in owing if one.holder == one.address and one.since < late]
    if not silent:
        waiting = [one for one in candidates if one.waits_for_turn]
        if waiting:  # random ones: if it were always the last, nobody else could connect
            any_of_them = secrets.SystemRandom().sample(waiting, min(len(waiting), MOST_AT_ONCE))
            return _Replaceable(any_of_them, lambda one: one.waits_for_turn)
    by_time = sorted(silent or owing, key=lambda one: one.since)
    return _Replaceable(by_time, lambda one: one.owes_bytes())


def counted_address(host: str) -> str:
    """The address by which connections are counted: for IPv6, the /64 network.

    >>> counted_address("2001:db8::7"), counted_address("::ffff:192.0.2.7")
    ('2001:db8::/64', '192.0.2.7')
    """
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host.partition("%")[0])
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False))
