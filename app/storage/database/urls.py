"""Addresses of databases: what PODIUM_DATABASE_URL may be."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.errors import BadDatabaseUrl

OLDEST_SQLITE = (3, 35)  # the first with RETURNING, and with MATERIALIZED


def database_url(text: str) -> URL:
    """The URL as SQLAlchemy needs it: PostgreSQL through psycopg 3, SQLite as a file.

    >>> database_url("postgres://podium@db/podium").drivername
    'postgresql+psycopg'

    Several hosts become lists, which psycopg and SQLAlchemy both understand:

    >>> str(database_url("postgresql://podium@/podium?host=a:5432&host=b:5433"))
    'postgresql+psycopg://podium@/podium?host=a%2Cb&port=5432%2C5433'

    Raises:
        BadDatabaseUrl: it is not a URL, names another database, names SQLite without a file, or
            names SQLite where Python has an older one than Podium needs.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # ValueError: the port is not a number
        raise BadDatabaseUrl(  # without the error's text, which may contain a password
            "it is not a URL. Examples: postgresql://user:password@host/database, "
            "sqlite:////path/podium.db"
        ) from None
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        if not text.isprintable():  # a path of SQLite may contain any character
            raise BadDatabaseUrl("it has a character that is in no URL, as a line feed at its end")
        _require_hosts(url)
        full = _with_lists(url.set(drivername="postgresql+psycopg"))
        _require_options(full)
        return full
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise BadDatabaseUrl(f"the database must be SQLite or PostgreSQL, not {url.drivername!r}")
    if url.database in (None, "", ":memory:"):
        raise BadDatabaseUrl(
            "SQLite needs a file (sqlite:////path/podium.db): memory is not durable"
        )
    _require_options(url)
    refuse_old_sqlite(sqlite3.sqlite_version_info)
    return url


def refuse_old_sqlite(version: tuple[int, ...]) -> None:
    """Refuse a version of SQLite that cannot run Podium's queries.

    Raises:
        BadDatabaseUrl: the version is too old.
    """
    if version < OLDEST_SQLITE:
        needed, found = (".".join(map(str, each)) for each in (OLDEST_SQLITE, version))
        raise BadDatabaseUrl(
            f"Podium needs SQLite {needed} or newer, and this Python has {found}. Use a Python "
            "with a newer SQLite, or PostgreSQL (PODIUM_DATABASE_URL=postgresql://...)"
        )


def _with_lists(url: URL) -> URL:
    if isinstance(url.query.get("host"), str | None):
        return url
    try:
        _, found = url.get_dialect()().create_connect_args(url)
    except ArgumentError:
        raise BadDatabaseUrl("a host or port in it is not one") from None
    return url.update_query_dict({name: str(found[name]) for name in ("host", "port")})


def _require_hosts(url: URL) -> None:
    """Refuse host names and ports with which the driver would fail without an error message."""
    given = url.normalized_query
    hosts = ",".join([url.host or "", *given.get("host", ())]).split(",")
    ports = ",".join(given.get("port", ())).split(",")
    try:
        for host in hosts:
            if not host.startswith(("/", "@")):  # otherwise it is the path of a socket
                host.encode("idna")  # UnicodeError is a ValueError
        for port in ports:
            int(port or 0)
    except ValueError:
        raise BadDatabaseUrl("a host or port in it is not one") from None


def _require_options(url: URL) -> None:
    """Refuse options with which the driver would raise an error that looks like Podium's defect."""
    if url.get_backend_name() == "sqlite":
        try:
            url.get_dialect()().create_connect_args(url)
        except (ArgumentError, ValueError):
            raise BadDatabaseUrl("an option in it has a value that it cannot have") from None
        return
    from psycopg import ProgrammingError
    from psycopg.conninfo import make_conninfo

    try:
        make_conninfo(**dict.fromkeys(url.query, ""))
    except ProgrammingError as error:
        raise BadDatabaseUrl(str(error).strip()) from None


def sqlite_file(text: str) -> Path | None:
    """The file of a SQLite database; None for PostgreSQL."""
    url = database_url(text)
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None
