"""Engines: open connections to SQLite and PostgreSQL and begin transactions on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from app.storage.database.urls import database_url

BUSY_SECONDS = 5.0
KEPT_LOG_BYTES = 64 << 20  # of SQLite's log, after it grew during a backup
# PostgreSQL from 14 on can be configured to end connections that do nothing.
NEVER_IDLE = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name LIKE 'idle_session_%'"
# PostgreSQL can be configured to send fewer digits than a double has, which is the default before
# 12, and dates in forms that the driver cannot read.
EXACT = "SELECT set_config('extra_float_digits', '3', false), set_config('datestyle', 'ISO', false)"
Connect = Callable[[Any, Any], None]


@dataclass(frozen=True, slots=True)
class DatabaseLimits:
    """The number of connections of a process, and its time-outs for PostgreSQL.

    `readers` is the number of connections for reading. A process has two more: one for writing and
    one for notifications. A query ends after `statement_seconds`, a wait for a lock after
    `lock_seconds`, an attempt to connect after `connect_seconds`.
    """

    readers: int = 24
    statement_seconds: float = 60.0
    lock_seconds: float = 5.0
    connect_seconds: float = 5.0


DEFAULT = DatabaseLimits()


def make_engine(
    text: str,
    *,
    connections: int,
    writes: bool,
    patience: float = BUSY_SECONDS,
    foreign_keys: bool = True,
    limits: DatabaseLimits = DEFAULT,
) -> Engine:
    """An engine of at most `connections` connections.

    Reading transactions see one snapshot and may change nothing. On SQLite a writing transaction
    locks the database when it begins. A later lock could fail at once, without waiting.
    `patience` is the maximum time in seconds to wait for a lock or a free connection.
    """
    url = database_url(text)
    busy = max(0.05, min(BUSY_SECONDS, patience))
    is_sqlite = url.get_backend_name() == "sqlite"
    options: dict[str, Any] = {} if is_sqlite else {"connect_args": postgres_arguments(limits)}
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=patience,
        pool_pre_ping=not (is_sqlite or writes),  # the writer retries after errors
        json_serializer=_json,
        hide_parameters=True,  # errors reach logs, and logs must not show rows
        **options,
    )
    if is_sqlite:
        begin = "BEGIN IMMEDIATE" if writes else "BEGIN"
        event.listen(engine, "connect", _sqlite_connect(writes, busy, foreign_keys))
        event.listen(engine, "begin", _statement(begin))
        event.listen(engine, "checkin", _end_failed_commit)
        return engine
    event.listen(engine, "connect", _postgres_connect(limits, patience))
    if writes:
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def _json(value: Any) -> str:
    """JSON for both databases: no NaN; the dates of a TOML document as text."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_date_as_text)


def _date_as_text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _statement(text: str) -> Callable[[Connection], None]:
    def run(connection: Connection) -> None:
        connection.exec_driver_sql(text)

    return run


def _sqlite_connect(writes: bool, busy: float, foreign_keys: bool) -> Connect:
    pragmas = (
        f"busy_timeout = {int(busy * 1000)}",  # first: the next ones may wait for a lock
        "journal_mode = WAL",
        "synchronous = FULL",
        f"journal_size_limit = {KEPT_LOG_BYTES}",
        f"foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        f"query_only = {'OFF' if writes else 'ON'}",
    )

    def prepare(connection: Any, _: Any) -> None:
        # No BEGIN of sqlite3, which is late and never IMMEDIATE: the "begin" event runs Podium's.
        connection.isolation_level = None
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    return prepare


def _end_failed_commit(connection: Any, _: Any) -> None:
    # A COMMIT that SQLite refuses leaves the transaction open; SQLAlchemy assumes that it ended.
    if connection is not None and connection.in_transaction:
        connection.rollback()


def postgres_arguments(limits: DatabaseLimits) -> dict[str, Any]:
    """The arguments for a connection to PostgreSQL."""
    return {
        "connect_timeout": max(2, round(limits.connect_seconds)),  # libpq's minimum is 2
        # Detect a network that drops packets, both while busy and while idle.
        "tcp_user_timeout": 15_000,  # ms
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "application_name": "podium",
        "client_encoding": "UTF8",
    }


def _postgres_connect(limits: DatabaseLimits, patience: float) -> Connect:
    milliseconds = {
        "lock_timeout": min(limits.lock_seconds, max(0.05, patience)),
        "statement_timeout": limits.statement_seconds,
        # Otherwise a process that froze in a transaction would hold its locks for ever.
        "idle_in_transaction_session_timeout": limits.statement_seconds,
    }

    def prepare(connection: Any, _: Any) -> None:
        with connection.cursor() as cursor:
            for name, seconds in milliseconds.items():
                cursor.execute(f"SET {name} = {int(seconds * 1000)}")
            cursor.execute(NEVER_IDLE)
            cursor.execute(EXACT)
            # An acknowledged row must be on disk, even if the server is configured otherwise.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
        connection.commit()

    return prepare
