"""Procrastinate's connections to PostgreSQL, for a worker that outlives PostgreSQL's restarts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, LiteralString, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from psycopg_pool import AsyncConnectionPool

log = logging.getLogger("podium.queue")
Result = TypeVar("Result")
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds between attempts
POOL_SECONDS = 5.0  # patience with one attempt to get a connection


class PatientConnector(PsycopgConnector):
    """Asks again while the database is away, instead of failing and ending the worker.

    Asking twice for what was done already, its answer lost, must do no harm: see `OwnJobs`.
    `outages` counts how often the database went away.
    """

    def __init__(
        self, url: str, *, connections: int, is_outage: Callable[[BaseException], bool]
    ) -> None:
        super().__init__(
            conninfo=url,
            min_size=1,
            max_size=connections,
            timeout=POOL_SECONDS,
            configure=_commit_each,
            pool_factory=_unchecked,
            kwargs={
                "application_name": "podium worker queue",
                "connect_timeout": 5,
                "tcp_user_timeout": 15_000,
                # A crash of PostgreSQL may take back the last half second of the queue's marks:
                # a job is delivered once more then, which is harmless, and no job is ever lost.
                # In return a job costs no wait for the disk. Submissions and grades are written
                # over other connections, and always synced.
                "options": "-c synchronous_commit=off",
            },
        )
        self._is_outage = is_outage
        self._away = False
        self.outages = 0

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Run a query that returns nothing."""
        await self._patiently(lambda: super(PatientConnector, self).execute_query_async(
            query, **arguments
        ))  # fmt: skip

    async def execute_query_one_async(
        self, query: LiteralString, **arguments: Any
    ) -> dict[str, Any]:
        """Run a query that returns one row."""
        return await self._patiently(lambda: super(PatientConnector, self).execute_query_one_async(
            query, **arguments
        ))  # fmt: skip

    async def execute_query_all_async(
        self, query: LiteralString, **arguments: Any
    ) -> list[dict[str, Any]]:
        """Run a query that returns rows."""
        return await self._patiently(lambda: super(PatientConnector, self).execute_query_all_async(
            query, **arguments
        ))  # fmt: skip

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen until cancelled; a lost connection is opened again."""
        names = list(channels)
        await self._patiently(
            lambda: super(PatientConnector, self).listen_notify(on_notification, names)
        )

    async def _patiently(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        pause = SHORTEST_PAUSE
        while True:
            try:
                result = await ask()
            except ConnectorException as error:
                if not self._is_outage(error.__cause__ or error):
                    raise
                if not self._away:
                    self._away = True
                    self.outages += 1
                    log.warning("the queue is away: %s", str(error.__cause__ or error).strip())
            else:
                if self._away:
                    self._away = False
                    log.warning("the queue is back")
                return result
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)


def _unchecked(**arguments: Any) -> AsyncConnectionPool[Any]:
    # Without the library's query before every query, which asks whether the connection still is:
    # where it is not, the query itself says so, and is asked again.
    return AsyncConnectionPool(**{**arguments, "check": None})


async def _commit_each(connection: psycopg.AsyncConnection[Any]) -> None:
    # Every query of Procrastinate is one statement: no BEGIN and no COMMIT to wait for.
    await connection.set_autocommit(True)
