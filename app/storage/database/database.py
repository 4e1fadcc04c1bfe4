"""The database: many reading sessions, one writer thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import ExceptionContext, event, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.errors import Unavailable
from app.storage.database.engine import (
    DEFAULT,
    DatabaseLimits,
    make_engine,
    postgres_arguments,
)
from app.storage.database.errors import READ_ONLY, is_damage, is_outage, outage_in_words
from app.storage.database.urls import database_url
from app.storage.database.writer import Writer

if TYPE_CHECKING:
    from app.storage.database.listener import Listener

log = logging.getLogger("podium.storage")
IS_READ_ONLY = (
    "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
)
RETRY_SECONDS = 0.1  # before a reader's only retry: a quick 503 is better than a queue of requests
Result = TypeVar("Result")


class Database:
    """A SQLite file or a PostgreSQL database.

    `write_patience` is how many seconds a write, or a reader without a free connection, waits for
    a database that is locked or away before it raises `Unavailable`.
    """

    def __init__(
        self, url: str, *, write_patience: float = 15.0, limits: DatabaseLimits = DEFAULT
    ) -> None:
        self.url = database_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._limits = limits
        self.reading_engine = make_engine(
            url, connections=limits.readers, writes=False, patience=write_patience, limits=limits
        )
        self.writing_engine = make_engine(
            url, connections=1, writes=True, patience=write_patience, limits=limits
        )
        self._snapshot: ContextVar[Session | None] = ContextVar("snapshot", default=None)
        self.is_damaged = False  # whether a query met a damaged page
        self._losses = 0
        for engine in (self.reading_engine, self.writing_engine):
            event.listen(engine, "handle_error", self._note_error)
        self._on_notify: Callable[[Iterable[str]], None] = lambda ids: None
        self._listener: Listener | None = None
        self.writer = Writer(
            self.writing_engine,
            patience=write_patience,
            keeps_marks=not self.is_sqlite,
            on_notify=self._forward_ids,
        )

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A read-only session on one snapshot of the data; within `snapshot`, on that one.

        Raises:
            Unavailable: the database is away, was lost while reading, or has no free connection.
        """
        shared = self._snapshot.get()
        if shared is not None:
            yield shared
            return
        session = self._open()
        try:
            yield session
        except Exception as error:
            if is_outage(error):
                raise _unavailable(error) from error
            raise
        finally:
            _close(session)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let this thread read everything within as of one moment, whatever is written meanwhile.

        It occupies a connection, so do not wait for a lock or a file within, and compute little.
        """
        with self.read() as session:
            token = self._snapshot.set(session)
            try:
                yield
            finally:
                self._snapshot.reset(token)

    def write(self, function: Callable[[Session], Result]) -> Result:
        """Run `function` in a transaction and wait until it is committed.

        `function` may share its transaction with others and may be run more than once: see
        `app.storage.database.writer` for what it may do, and for what is raised.
        """
        return self.writer.write(function)

    def write_new(self, function: Callable[[Session], Result]) -> Result:
        """Like `write`, for rows that another process may store at the same moment.

        If it does, `function` runs again, and finds them.
        """
        try:
            return self.write(function)
        except IntegrityError:
            return self.write(function)

    def enqueue(self, function: Callable[[Session], Result]) -> Future[Result]:
        """Like `write`, without waiting: the future is done once the result is committed."""
        return self.writer.enqueue(function)

    def ping(self) -> None:
        """Check that the database answers, and that PostgreSQL lets new connections write.

        Raises:
            Unavailable: the database does not answer, or is a standby or set to be read-only.
        """
        with self.read() as session:
            # SQLite answers SELECT 1 without reading its file.
            asked = text("PRAGMA schema_version" if self.is_sqlite else IS_READ_ONLY)
            answer = session.execute(asked).scalar_one()
        if answer is True:
            raise Unavailable(f"{READ_ONLY}; try again.")

    def listen(
        self,
        on_notify: Callable[[Iterable[str]], None],
        on_gap: Callable[[], None],
        *names: str,
    ) -> None:
        """Start to forward notifications of all processes; see `database.notify` and `Listener`.

        `names` are those of this process.

        With SQLite only this process notifies. The writer's thread calls `on_notify`, and
        `on_gap` is never called.
        """
        self._on_notify = on_notify
        if not self.is_sqlite:
            # Imported here: it loads the driver of PostgreSQL, which a SQLite database does not
            # need.
            from app.storage.database.listener import Listener

            arguments = postgres_arguments(self._limits)
            self._listener = Listener(self.url, names, arguments, on_notify, on_gap)

    @property
    def is_listening(self) -> bool:
        """Whether notifications arrive at the moment, after `listen` was called."""
        return self._listener is None or self._listener.is_listening

    def close(self) -> None:
        """Commit the waiting writes and close all connections."""
        if self._listener is not None:
            self._listener.close()
        self.writer.close()
        self.writing_engine.dispose()
        self.reading_engine.dispose()

    @property
    def losses(self) -> int:
        """A number that grows when a connection to PostgreSQL is lost, and when it is restored.

        A standby that lacks the last writes may have taken over. It then gives their ids to other
        rows. So a value that is cached by a row's id, or by a count of rows, is valid only as long
        as this number is what it was before the rows were read.
        """
        return self._losses + (self._listener.losses if self._listener is not None else 0)

    def _note_error(self, context: ExceptionContext) -> None:
        if context.is_disconnect:
            self._losses += 1
        if is_damage(context.original_exception) and not self.is_damaged:
            self.is_damaged = True
            log.critical(
                "the database is damaged", extra={"error": str(context.original_exception)}
            )

    def _forward_ids(self, ids: list[str]) -> None:
        self._on_notify(ids)

    def _open(self) -> Session:
        try:
            return self._begin()
        except Exception as error:
            if not is_outage(error):
                raise
        time.sleep(RETRY_SECONDS)
        try:
            return self._begin()
        except Exception as error:
            if is_outage(error):
                raise _unavailable(error) from error
            raise

    def _begin(self) -> Session:
        session = Session(self.reading_engine)
        try:
            session.connection()
        except BaseException:
            _close(session)
            raise
        return session


def _close(session: Session) -> None:
    """End a reader's session. Its results are valid even if the connection is lost now."""
    try:
        session.close()
    except Exception as error:
        session.invalidate()
        if not is_outage(error):
            raise


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(f"{outage_in_words(error)}; try again.")
