"""A real PostgreSQL for tests: the one that is named, or one of our own in a temporary directory.

`PODIUM_TEST_POSTGRES_URL` names one whose user may create databases. Without it the system's
`postgres` is started, on a Unix socket, as an unprivileged user. The server that tests share runs
without fsync, since nothing outlives it; a server that a test crashes runs with fsync.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
from sqlalchemy import make_url

URL = "PODIUM_TEST_POSTGRES_URL"
WITHOUT = "PODIUM_TEST_WITHOUT_POSTGRES"
ADVICE = (
    "no PostgreSQL for the tests: install one (Debian: apt-get install postgresql), or name one by "
    f"{URL}=postgresql://user:password@host/database, or leave its tests out by {WITHOUT}=1"
)
START_SECONDS = 180  # a busy machine recovers a crashed server slowly
OWNER = "podium"
# Sorted as English by default, so that a query that forgets to ask for byte order is noticed.
ENGLISH = ("--locale-provider=icu", "--icu-locale=en")

CLOSE_OTHERS = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
TABLES = (
    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
    " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    " AND tablename <> 'alembic_version'"
)
BEGIN_SEQUENCES = (
    "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)"
    " FROM pg_sequences WHERE last_value IS NOT NULL"
)
SCHEMA = (
    "SELECT (SELECT string_agg(version_num, ',') FROM alembic_version),"
    " (SELECT md5(string_agg(concat_ws(' ', attrelid::regclass, attname, atttypid, attnotnull,"
    " atthasdef), ',' ORDER BY attrelid::regclass::text, attnum)) FROM pg_attribute"
    " WHERE attrelid >= 16384 AND attnum > 0),"
    " (SELECT md5(string_agg(pg_get_constraintdef(oid), ',' ORDER BY conname,"
    " conrelid::regclass::text)) FROM pg_constraint WHERE oid >= 16384)"
)


class NoPostgresError(Exception):
    """There is no PostgreSQL here to test with."""


class Postgres:
    """A server: the URLs of its databases, which come and go. `migrated` is the template."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url)
        self._prefix = f"podium_test_{uuid.uuid4().hex[:8]}"
        self._count = 0

    def url(self, name: str) -> str:
        """The URL of a database."""
        return self._url.set(database=name).render_as_string(hide_password=False)

    @contextlib.contextmanager
    def database(self, template: str | None = None) -> Iterator[str]:
        """A new database's name, for as long as the context lasts."""
        name = self._create(template or "template0")
        try:
            yield name
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")

    @contextlib.contextmanager
    def emptied(self, template: str) -> Iterator[str]:
        """The name of a copy of a database without rows, for one user at a time."""
        with self.database(template) as name:
            yield name

    def _create(self, template: str) -> str:
        self._count += 1
        name = f"{self._prefix}_{self._count}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def _run(self, statement: str) -> None:
        url = self._url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement)


class OwnServer(Postgres):
    """A server started for the tests, which they may also stop."""

    def __init__(self, *, fsync: bool = True) -> None:
        self._fsync = "on" if fsync else "off"
        self._programs = server_programs()
        # Short, since a socket's path has at most 107 bytes; not pytest's, which is only ours.
        # In memory where tests write there: a crashed server syncs all its files before it starts,
        # which takes minutes on a disk that others are busy with.
        memory = os.environ.get("PYTEST_DEBUG_TEMPROOT")
        self.directory = Path(tempfile.mkdtemp(prefix="podium-pg-", dir=memory))
        self._process: subprocess.Popen[bytes] | None = None
        self._account = server_account()
        self._emptied: dict[str, list[str]] = {}  # copies that nobody uses, by their template
        self._schemas: dict[str, Any] = {}  # of templates
        super().__init__(f"postgresql://{OWNER}@/postgres?host={self.directory}")
        try:
            if self._account:
                os.chown(self.directory, self._account["user"], self._account["group"])
            self._make_cluster()
            self.start()
        except BaseException:
            self.remove()
            raise

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._programs / "postgres", "-D", self.directory / "data",
                    "-k", self.directory, "-c", "listen_addresses=",
                    "-c", "shared_buffers=32MB", "-c", "max_connections=100",
                    "-c", f"fsync={self._fsync}",
                ],
                cwd=self.directory, env=_environment(), preexec_fn=_end_with_parent,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._account,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._run("SELECT 1")
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise NoPostgresError(
                        f"postgres does not start:\n{(self.directory / 'log').read_text()}"
                    ) from None
                time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT cuts connections and shuts down, SIGQUIT is a crash.

        SIGKILL kills all its processes, as the loss of its machine would. (If the first alone is
        killed, another may wait for ever for one that is gone, and nobody can start again.)
        """
        if self._process is None:
            return
        children = children_of(self._process.pid)
        if how == signal.SIGKILL:
            self._process.send_signal(signal.SIGSTOP)  # so that it starts no more
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            children = children_of(self._process.pid)
            for child in children:
                child.kill()
        self._process.send_signal(how)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
        await_end(children)

    def remove(self) -> None:
        """Stop the server and remove all it has."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    @contextlib.contextmanager
    def emptied(self, template: str) -> Iterator[str]:
        """The name of a copy of a database without rows, for one user at a time.

        Making and dropping a database takes ten times as long as deleting some rows, so the copy is
        emptied for the next user, unless somebody changed its schema.
        """
        if template not in self._schemas:
            self._schemas[template] = self._schema(template)
        free = self._emptied.setdefault(template, [])
        name = free.pop() if free else self._create(template)
        try:
            yield name
        finally:
            if self._empty(name) == self._schemas[template]:
                free.append(name)
            else:
                self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _empty(self, name: str) -> Any:
        """Close the connections to a database, delete its rows and begin its sequences anew.

        Returns what describes its schema.
        """
        with self._connect(name) as connection:
            connection.execute(CLOSE_OTHERS)
            tables = [table for (table,) in connection.execute(TABLES)]
            filled = " UNION ALL ".join(
                f"(SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table}))" for table in tables
            )
            # The tables refer to one another: no foreign key is checked while all become empty.
            connection.execute("SET session_replication_role = replica")
            for (table,) in connection.execute(filled).fetchall():
                connection.execute(f"DELETE FROM {table}")
            connection.execute(BEGIN_SEQUENCES)
            return connection.execute(SCHEMA).fetchone()

    def _schema(self, name: str) -> Any:
        with self._connect(name) as connection:
            return connection.execute(SCHEMA).fetchone()

    def _connect(self, name: str) -> psycopg.Connection:
        url = self._url.set(drivername="postgresql", database=name)
        return psycopg.connect(url.render_as_string(hide_password=False), autocommit=True)

    def _make_cluster(self) -> None:
        command = [
            self._programs / "initdb", "-D", self.directory / "data", "--username", OWNER,
            "--auth", "trust", "--encoding", "UTF8", "--no-sync",
        ]  # fmt: skip
        for locale in (ENGLISH, ()):
            done = subprocess.run(
                [*command, *locale], cwd=self.directory, env=_environment(),
                stdin=subprocess.DEVNULL, capture_output=True, text=True, **self._account,
            )  # fmt: skip
            if done.returncode == 0:
                return
        raise NoPostgresError(f"initdb failed:\n{done.stdout}\n{done.stderr}")


def children_of(pid: int) -> list[psutil.Process]:
    """The children of a process; none of one that has ended."""
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []


def await_end(processes: list[psutil.Process], seconds: float = 30) -> None:
    """Wait until these have ended: the next server refuses a memory that one of them still has."""
    deadline = time.monotonic() + seconds
    while any(is_alive(one) for one in processes):
        assert time.monotonic() < deadline, f"still there: {processes}"
        time.sleep(0.01)


def is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@contextlib.contextmanager
def any_server() -> Iterator[Postgres]:
    """The server that is named, or one of our own.

    Raises:
        NoPostgresError: there is neither.
    """
    if named := os.environ.get(URL):
        yield Postgres(named)
        return
    server = OwnServer(fsync=False)
    try:
        yield server
    finally:
        server.remove()


def server_programs() -> Path:
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(installed, key=lambda path: float(path.parent.name), reverse=True)
    for directory in found:
        if (directory / "initdb").exists() and (directory / "postgres").exists():
            return directory
    raise NoPostgresError(ADVICE)


def server_account() -> dict[str, Any]:
    """Whom to run PostgreSQL as: it refuses root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoPostgresError("root cannot run PostgreSQL, and there is no user postgres or nobody")


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _end_with_parent() -> None:
    """Let the kernel stop the server if the tests are killed before they can."""
    set_parent_death_signal = 1
    with contextlib.suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGINT)
