"""Receive PostgreSQL's notifications, on one connection for each process."""

from __future__ import annotations

import logging
import select
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import psycopg
from sqlalchemy import URL

from app.errors import PodiumError
from app.storage.database.engine import NEVER_IDLE
from app.storage.database.notify import CHANNEL, lock_of

log = logging.getLogger(__name__)
MAX_PAUSE_SECONDS = 2.0  # between attempts while the database is away
# Let PostgreSQL notice within half a minute that this machine is gone, and release the lock.
KEEPALIVES = (
    "SELECT set_config('tcp_keepalives_idle', '10', false),"
    " set_config('tcp_keepalives_interval', '5', false),"
    " set_config('tcp_keepalives_count', '3', false)"
)


class Listener:
    """A thread with a connection that listens. It opens a lost connection again.

    The thread calls `on_notify(ids)` for each notification. It calls `on_gap()` whenever it has
    begun to listen: earlier notifications were lost, so `on_gap` has to query the database.
    While it listens, it holds the locks of `names`. `losses` grows when it begins and when it ends.
    """

    def __init__(
        self,
        url: URL,
        names: Sequence[str],
        arguments: dict[str, Any],
        on_notify: Callable[[Iterable[str]], None],
        on_gap: Callable[[], None],
    ) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._names = names
        self._arguments = arguments
        self._on_notify = on_notify
        self._on_gap = on_gap
        self._stop_sender, self._stop_receiver = socket.socketpair()
        self._stopping = threading.Event()
        self._listening = threading.Event()
        self.losses = 0
        self._thread = threading.Thread(target=self._run, name="podium-listener", daemon=True)
        self._thread.start()

    @property
    def is_listening(self) -> bool:
        """Whether notifications arrive at the moment."""
        return self._listening.is_set()

    def close(self) -> None:
        """Stop listening."""
        self._stopping.set()
        self._stop_sender.send(b"\0")
        self._thread.join()
        self._stop_sender.close()
        self._stop_receiver.close()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            try:
                with psycopg.connect(
                    self._address, autocommit=True, **self._arguments
                ) as connection:
                    connection.execute(KEEPALIVES)
                    connection.execute(NEVER_IDLE)
                    for name in self._names:
                        connection.execute("SELECT pg_advisory_lock_shared(%s)", [lock_of(name)])
                    connection.execute(f"LISTEN {CHANNEL}")
                    # In this order: a commit during the query is notified afterwards.
                    self.losses += 1
                    self._on_gap()
                    self._listening.set()
                    pause = 0.0
                    self._follow(connection)
            except (psycopg.Error, PodiumError) as error:
                if self._listening.is_set() or not pause:
                    log.warning("no notifications from the database: %s", str(error).strip())
                pause = self._pause(pause)
            except Exception:  # a query of `on_gap` failed; notifications need this thread
                log.exception("no notifications from the database")
                pause = self._pause(pause)
        self._listening.clear()

    def _pause(self, seconds: float) -> float:
        """Wait before the next attempt. Returns how long to wait before the one after that."""
        if self._listening.is_set():
            self.losses += 1
        self._listening.clear()
        self._stopping.wait(seconds)
        return min(MAX_PAUSE_SECONDS, max(0.05, 2 * seconds))

    def _follow(self, connection: psycopg.Connection[Any]) -> None:
        readable = select.poll()
        readable.register(connection.fileno(), select.POLLIN)
        readable.register(self._stop_receiver, select.POLLIN)
        while not self._stopping.is_set():
            received: dict[str, None] = {}
            for notice in connection.notifies(timeout=0):
                received.update(dict.fromkeys(notice.payload.split()))
            if received:
                self._on_notify(received)
                continue
            readable.poll()
