"""Archive competitions, experiments and runs, and restore them. Nothing is deleted.

Rates leave out what is archived, so each archiving and restoration is an entry of the public log.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.errors import Conflict, NotFound
from app.services.public_log.append import append_log_entry
from app.services.public_log.reasons import check_reason
from app.services.runtime.archival import refuse_archived
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries import archive as archivals
from app.storage.queries import competitions, experiments, runs
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.trust import log

ARCHIVING, RESTORATION = "archiving", "restoration"


def archive(
    context: Context, kind: ArchivalKind, name: str, reason: str, *, by: str | None
) -> ArchivalRecord:
    """Archive a competition (a slug), an experiment (a name) or a run (an id).

    `by` is the id of the admin's key; None for a command on the server.

    Raises:
        NotFound: it does not exist.
        Conflict: it is archived already.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)

    def record(session: Session) -> ArchivalRecord:
        log.lock(session)  # of two archivings at once, the second finds the first
        # A run that is being made is made before this, or not at all.
        if kind is ArchivalKind.EXPERIMENT:
            experiments.lock(session, name)
        if kind is ArchivalKind.COMPETITION:
            competitions.lock(session, name)
        _require(session, kind, name)
        refuse_archived(session, kind, name)
        at = _log(context, session, ARCHIVING, kind, name, reason, by)
        new = ArchivalRecord(kind=kind, name=name, archived_at=at, reason=reason, archived_by=by)
        archivals.archive(session, new)
        return new

    return context.database.write(record)


def restore(
    context: Context, kind: ArchivalKind, name: str, reason: str, *, by: str | None
) -> None:
    """Restore what was archived: it is listed and counted again, and the keys of its runs work.

    Raises:
        NotFound: it does not exist.
        Conflict: it is not archived.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)

    def record(session: Session) -> None:
        log.lock(session)
        _require(session, kind, name)
        if archivals.current(session, kind, name) is None:
            raise Conflict(f"The {kind.value} {name!r} is not archived, so it cannot be restored.")
        at = _log(context, session, RESTORATION, kind, name, reason, by)
        archivals.restore(session, kind, name, at=at, reason=reason, by=by)

    context.database.write(record)


def _log(
    context: Context,
    session: Session,
    act: str,
    kind: ArchivalKind,
    name: str,
    reason: str,
    by: str | None,
) -> datetime:
    """Add the act to the log. Returns its time, which is later than that of every act before it.

    This is so even if the clock was set back, because the times of the last archiving and the last
    restoration are the version of cached results.
    """
    body = {"what": kind.value, "name": name, "reason": reason, "by": by}
    return append_log_entry(context, session, act, body).at


def _require(session: Session, kind: ArchivalKind, name: str) -> None:
    known = {
        ArchivalKind.COMPETITION: competitions.current_version,
        ArchivalKind.EXPERIMENT: experiments.get,
        ArchivalKind.RUN: runs.get_run,
    }[kind](session, name)
    if known is None:
        raise NotFound(f"There is no {kind.value} {name!r}.")


def archived_of_run(context: Context, run: RunRecord) -> list[ArchivalRecord]:
    """The archivings of a run, of its experiment and of its competition."""
    parts = (
        (ArchivalKind.EXPERIMENT, run.experiment),
        (ArchivalKind.COMPETITION, run.competition),
        (ArchivalKind.RUN, run.id),
    )
    with context.database.read() as session:
        return archivals.currents_among(session, parts)


def archived_of_competition(context: Context, slug: str) -> list[ArchivalRecord]:
    """The archiving of a competition, if it is archived."""
    with context.database.read() as session:
        return archivals.currents_among(session, [(ArchivalKind.COMPETITION, slug)])


def archived_of_experiments(context: Context, names: Collection[str]) -> list[ArchivalRecord]:
    """The archivings of experiments, and of the competitions of their runs and imported results.

    Their rates leave out results at archived competitions.
    """
    with context.database.read() as session:
        return archivals.currents_of_experiments(session, names)
