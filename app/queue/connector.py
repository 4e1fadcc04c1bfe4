"""Procrastinate's connections to PostgreSQL, which survive PostgreSQL's restarts."""

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
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.05, 1.0  # between attempts
POOL_SECONDS = 5.0  # time-out of one attempt to get a connection


class PatientConnector(PsycopgConnector):
    """Retries queries while the database is away, so that an outage does not end the worker.

    A query whose answer was lost runs twice, so every query must be repeatable: see
    `WorkerJobManager`. `outages` grows by one for each query that has to wait for the database,
    however long it waits. After `give_up`, queries that would wait are cancelled, because the
    library would log their errors as errors of its worker.
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
                # Without it, texts of a database in SQL_ASCII would be bytes.
                "client_encoding": "UTF8",
                "connect_timeout": 5,
                "tcp_user_timeout": 15_000,
                # A crash of PostgreSQL may undo the queue's last half second. A job is then
                # delivered once more, which does no harm; no job is ever lost. In return a job
                # does not wait for the disk. Other connections write submissions and grades,
                # always synced.
                "options": "-c synchronous_commit=off",
            },
        )
        self._is_outage = is_outage
        self._waiting = 0  # queries that wait for the database
        self._gives_up = False
        self.outages = 0

    @property
    def is_away(self) -> bool:
        """Whether a query waits for the database."""
        return self._waiting > 0

    def give_up(self) -> None:
        """Wait no longer for the database: this process ends."""
        self._gives_up = True

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """Run a query that returns nothing."""
        await self._retrying(lambda: super(PatientConnector, self).execute_query_async(
            query, **arguments
        ))  # fmt: skip

    async def execute_query_one_async(
        self, query: LiteralString, **arguments: Any
    ) -> dict[str, Any]:
        """Run a query that returns one row."""
        return await self._retrying(lambda: super(PatientConnector, self).execute_query_one_async(
            query, **arguments
        ))  # fmt: skip

    async def execute_query_all_async(
        self, query: LiteralString, **arguments: Any
    ) -> list[dict[str, Any]]:
        """Run a query that returns rows."""
        return await self._retrying(lambda: super(PatientConnector, self).execute_query_all_async(
            query, **arguments
        ))  # fmt: skip

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen until cancelled. Opens a lost connection again."""
        names = list(channels)
        await self._repeated(
            lambda: super(PatientConnector, self).listen_notify(on_notification, names)
        )

    async def _retrying(self, query: Callable[[], Awaitable[Result]]) -> Result:
        try:
            return await query()
        except ConnectorException as error:
            if not self._is_outage(error.__cause__ or error):
                raise
            if self._gives_up:
                raise asyncio.CancelledError from error
            self.outages += 1
            if not self._waiting:
                log.warning("the queue is away: %s", str(error.__cause__ or error).strip())
        self._waiting += 1
        try:
            await asyncio.sleep(MIN_PAUSE_SECONDS)
            result = await self._repeated(query, may_give_up=True)
            if self._waiting == 1:
                log.warning("the queue is back")
            return result
        finally:
            self._waiting -= 1

    async def _repeated(
        self, query: Callable[[], Awaitable[Result]], *, may_give_up: bool = False
    ) -> Result:
        pause = MIN_PAUSE_SECONDS
        while True:
            try:
                return await query()
            except ConnectorException as error:
                if not self._is_outage(error.__cause__ or error):
                    raise
                if may_give_up and self._gives_up:
                    raise asyncio.CancelledError from error
            await asyncio.sleep(pause)
            pause = min(MAX_PAUSE_SECONDS, 2 * pause)


def _unchecked(**arguments: Any) -> AsyncConnectionPool[Any]:
    # Without the library's check of the connection before every query. If the connection is lost,
    # the query itself fails and is retried.
    return AsyncConnectionPool(**{**arguments, "check": None})


async def _commit_each(connection: psycopg.AsyncConnection[Any]) -> None:
    # Every query of Procrastinate is one statement. Autocommit saves BEGIN and COMMIT.
    await connection.set_autocommit(True)
