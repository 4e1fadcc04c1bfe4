"""Find a run, or raise the error for a run that does not exist."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.errors import NotFound
from app.storage.database.records import RunRecord
from app.storage.queries import runs


def existing_run(session: Session, run_id: str) -> RunRecord:
    """The run with this id, whoever asks.

    Raises:
        NotFound: the run does not exist.
    """
    run = runs.get_run(session, run_id)
    if run is None:
        raise no_run(run_id)
    return run


def no_run(run_id: str) -> NotFound:
    """The error for a run that does not exist, and for a run of another key."""
    return NotFound(f"There is no run {run_id!r} for this key.")
