"""Classify database errors: temporary outages, a full disk, and damage."""

from __future__ import annotations

import sqlite3
import sys

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.system_limits import is_disk_full

# SQLite's primary result codes for a locked database, an unreachable disk, or one that was mounted
# read-only because of its errors.
SQLITE_TEMPORARY = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
# Connection exceptions, transactions to retry, too many connections, operator intervention
# (shutdown, start-up), lock time-outs, statement time-outs, and transactions that the server ended
# because this process was frozen. A server refuses with 25006 while it is still a standby, with
# 53200 without memory, with 58030 if its disk fails, and with 42501 if this user lacks a
# permission.
POSTGRES_DENIED = "42501"
POSTGRES_TEMPORARY = (
    "08", "40", "53300", "57P", "55P03", "57014", "25P03", "25006", "53200", "58030",
    POSTGRES_DENIED,
)  # fmt: skip
READ_ONLY = "The database is read-only"
# PostgreSQL's messages for 53300, and PgBouncer's, because the client's library does not pass on
# the state of an error of a new connection. If the server's messages are in another language, it is
# reported as away.
NO_CONNECTION_LEFT = (
    "too many connections for", "too many clients already", "remaining connection slots are",
    "no more connections allowed",
)  # fmt: skip
POSTGRES_DISK_FULL = "53100"
# The errors of a database that finds a damaged page: SQLite's codes, PostgreSQL's class of states.
SQLITE_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
POSTGRES_DAMAGED = "XX00"


def is_outage(error: BaseException) -> bool:
    """Whether the database was locked or away, so that a retry may succeed."""
    if isinstance(error, PoolTimeoutError):
        return True
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or is_outage(error.orig or Exception())
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) in SQLITE_TEMPORARY
    return "psycopg" in sys.modules and _is_postgres_outage(error)


def outage_in_words(error: BaseException) -> str:
    """A sentence about the database for an error that `is_outage`."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = _primary_code(cause) if isinstance(cause, sqlite3.Error) else None
    if code == sqlite3.SQLITE_IOERR:
        return "The disk of the database cannot be read or written"
    if code == sqlite3.SQLITE_CANTOPEN:
        return "The file of the database cannot be opened"
    if code == sqlite3.SQLITE_READONLY or getattr(cause, "sqlstate", None) == "25006":
        return READ_ONLY
    if is_denied(error):
        return "The database refuses its user"
    if any(words in str(cause) for words in NO_CONNECTION_LEFT):
        return "The database has no connection left for Podium"
    return "The database is locked or away"


def is_denied(error: BaseException) -> bool:
    """Whether PostgreSQL denies its user a permission, which an administrator has to grant."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) == POSTGRES_DENIED


def is_full(error: BaseException) -> bool:
    """Whether the database's disk is full."""
    if isinstance(error, DBAPIError):
        return is_full(error.orig or Exception())
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) == sqlite3.SQLITE_FULL
    if "psycopg" in sys.modules and _is_postgres_full(error):
        return True
    return is_disk_full(error)


def may_pass(error: BaseException) -> bool:
    """Whether the same statement may succeed later: after an outage, or when the disk has room."""
    return is_outage(error) or is_full(error)


def is_damage(error: BaseException) -> bool:
    """Whether the database found that its file is damaged."""
    if isinstance(error, DBAPIError):
        return is_damage(error.orig or Exception())
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) in SQLITE_DAMAGED
    return str(getattr(error, "sqlstate", "")).startswith(POSTGRES_DAMAGED)


# Only a process that uses the driver of PostgreSQL loads it, because that takes 0.1 s.
def _is_postgres_outage(error: BaseException) -> bool:
    import psycopg

    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        # The server was not reached, or the connection broke.
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith(POSTGRES_TEMPORARY)


def _is_postgres_full(error: BaseException) -> bool:
    import psycopg

    return isinstance(error, psycopg.Error) and error.sqlstate == POSTGRES_DISK_FULL


def _primary_code(error: sqlite3.Error) -> int:
    # Errors that the Python module raises, not the library, have no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
