"""Hears the news that PostgreSQL passes on: one connection for a whole process."""

from __future__ import annotations

import logging
import select
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

import psycopg
from sqlalchemy import URL

from app.errors import PodiumError
from app.storage.database.notify import CHANNEL

log = logging.getLogger(__name__)
LONGEST_PAUSE = 2.0  # seconds between attempts while the database is away


class Listener:
    """A thread with a connection that listens; a lost connection is opened again.

    `on_news(ids)` is told what is heard. `on_gap()` is called whenever listening has begun: what
    was told before, nobody has heard, so it looks in the database. Both run in the thread.
    """

    def __init__(
        self,
        url: URL,
        arguments: dict[str, Any],
        on_news: Callable[[Iterable[str]], None],
        on_gap: Callable[[], None],
    ) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._arguments = arguments
        self._on_news = on_news
        self._on_gap = on_gap
        self._stop_there, self._stop_here = socket.socketpair()
        self._stopping = threading.Event()
        self._hears = threading.Event()
        self._thread = threading.Thread(target=self._run, name="podium-listener", daemon=True)
        self._thread.start()

    @property
    def hears(self) -> bool:
        """Whether news arrives just now."""
        return self._hears.is_set()

    def close(self) -> None:
        """Stop listening."""
        self._stopping.set()
        self._stop_there.send(b"\0")
        self._thread.join()
        self._stop_there.close()
        self._stop_here.close()

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            try:
                with psycopg.connect(
                    self._address, autocommit=True, **self._arguments
                ) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    # In this order: what commits while we look is heard afterwards.
                    self._on_gap()
                    self._hears.set()
                    pause = 0.0
                    self._follow(connection)
            except (psycopg.Error, PodiumError) as error:
                if self._hears.is_set() or not pause:
                    log.warning("no news from the database: %s", str(error).strip())
                self._hears.clear()
                self._stopping.wait(pause)
                pause = min(LONGEST_PAUSE, max(0.05, 2 * pause))
        self._hears.clear()

    def _follow(self, connection: psycopg.Connection[Any]) -> None:
        readable = select.poll()
        readable.register(connection.fileno(), select.POLLIN)
        readable.register(self._stop_here, select.POLLIN)
        while not self._stopping.is_set():
            heard: dict[str, None] = {}
            for notice in connection.notifies(timeout=0):
                heard.update(dict.fromkeys(notice.payload.split()))
            if heard:
                self._on_news(heard)
                continue
            readable.poll()
