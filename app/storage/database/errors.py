"""Which database errors pass by themselves, and which mean that the disk is full."""

from __future__ import annotations

import errno
import sqlite3

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

# Locked by someone else, or the file's disk is away: SQLite's primary result codes.
SQLITE_PASSING = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)
# Connection exceptions, transactions to be tried again, too many connections, operator's
# intervention (shutdown, start-up), locks not given in time, statements that took too long, and
# transactions that were ended because this process was frozen amid them.
POSTGRES_PASSING = ("08", "40", "53300", "57P", "55P03", "57014", "25P03")
POSTGRES_DISK_FULL = "53100"


def is_outage(error: BaseException) -> bool:
    """Whether the database was locked or away, so that the same work may succeed later."""
    if isinstance(error, PoolTimeoutError):
        return True
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or is_outage(error.orig or Exception())
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) in SQLITE_PASSING
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        # Without a code: the server was not reached, or the connection broke.
        return error.sqlstate is None or error.sqlstate.startswith(POSTGRES_PASSING)
    if isinstance(error, psycopg.Error):
        return (error.sqlstate or "").startswith(POSTGRES_PASSING)
    return False


def is_full(error: BaseException) -> bool:
    """Whether the database's disk takes no more."""
    if isinstance(error, DBAPIError):
        return is_full(error.orig or Exception())
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) == sqlite3.SQLITE_FULL
    if isinstance(error, psycopg.Error):
        return error.sqlstate == POSTGRES_DISK_FULL
    return isinstance(error, OSError) and error.errno == errno.ENOSPC


def _primary_code(error: sqlite3.Error) -> int:
    # Errors raised by the module itself, not by the library, have no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
