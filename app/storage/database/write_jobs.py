"""Jobs of the writer: functions to run in a transaction, and the futures of their results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from app.errors import StorageFull, Unavailable
from app.storage.database.errors import is_full, is_outage, outage_in_words


@dataclass(slots=True, eq=False)
class WriteJob:
    """A function to run. Its caller waits for the database until `deadline` (monotonic seconds)."""

    function: Callable[[Session], Any]
    deadline: float
    future: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class FailedWrite:
    """The outcome of a function that raised."""

    error: BaseException


@dataclass(slots=True, eq=False)
class JobGroup:
    """Jobs of one transaction. `outcomes` is set after a COMMIT whose answer was lost."""

    jobs: list[WriteJob]
    outcomes: list[Any] | None = None


def call_alone(function: Callable[[Session], Any], session: Session) -> Any:
    """Run a function of a group in a savepoint. An error undoes only its own work."""
    try:
        with session.begin_nested():
            return function(session)
    except Exception as error:
        if is_outage(error) or is_full(error):
            raise  # these end the transaction, not only this function
        return FailedWrite(error)


def resolve(jobs: list[WriteJob], outcomes: list[Any]) -> None:
    """Resolve the futures of jobs, except those that have failed already."""
    for job, outcome in zip(jobs, outcomes, strict=True):
        if job.future.done():
            continue
        if isinstance(outcome, FailedWrite):
            job.future.set_exception(_public(outcome.error))
        else:
            job.future.set_result(outcome)


def _public(error: BaseException) -> BaseException:
    """Translate an error of the database for callers."""
    public: BaseException = error
    if is_full(error):
        public = StorageFull("The database's disk is full; nothing was stored.")
    elif is_outage(error):
        public = Unavailable(f"{outage_in_words(error)}; try again.")
    if public is not error:
        public.__cause__ = error
    return public
