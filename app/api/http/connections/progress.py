"""Whether a client reads what is sent to it, and sends what it has begun to send."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

# Linux's struct tcp_info: tcpi_unacked, then tcpi_bytes_acked and tcpi_notsent_bytes.
TCP_INFO = struct.Struct("=24xI92xQ16xI")
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER with no time: unsent data is discarded
LEAST_BYTES = 1024  # a body must bring this many a second on average over `idle_seconds`


class Writing:
    """The bytes that a connection has to send, looked at once a second."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        self._acknowledged = -1
        self.stalled_since: float | None = None

    def look(self, now: float, is_responding: bool) -> None:
        """Note since when the client has read nothing of what waits to be sent."""
        unsent = self._transport.get_write_buffer_size()
        if not (unsent or is_responding):
            self.stalled_since = None
            return
        try:
            known = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size)
        except OSError:  # closed meanwhile
            return
        unacknowledged, acknowledged, not_sent = TCP_INFO.unpack(known)
        if acknowledged != self._acknowledged or not (unsent or unacknowledged or not_sent):
            self.stalled_since = None
        elif self.stalled_since is None:
            self.stalled_since = now
        self._acknowledged = acknowledged

    def abort(self) -> None:
        """Close the connection at once; the kernel discards its unsent data."""
        with contextlib.suppress(OSError):  # closed meanwhile
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self._transport.abort()


class Receiving:
    """How fast a body arrives."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._period = began
        self._bytes = 0

    def add(self, size: int) -> None:
        """Count bytes that arrived."""
        self._bytes += size

    def pause(self, now: float) -> None:
        """Begin the period again, because the server does not read now."""
        self._period, self._bytes = now, 0

    def is_too_slow(self, now: float, seconds: float) -> bool:
        """Whether less than LEAST_BYTES a second arrived in a period of `seconds`.

        The first two periods, with the usual `seconds` the first minute, may be slower.
        """
        if now - self._period < seconds:
            return False
        is_slow = self._bytes < LEAST_BYTES * seconds and now - self._began > 2 * seconds
        self.pause(now)
        return is_slow
