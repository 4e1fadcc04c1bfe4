"""Archive competitions, experiments and runs, and restore them. Nothing is deleted."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.errors import Conflict, NotFound
from app.services.runtime.context import Context
from app.storage.database.records import ArchivalRecord
from app.storage.queries import archive as archivals
from app.storage.queries import competitions, experiments, runs


def archive(
    context: Context, kind: ArchivalKind, name: str, reason: str, *, by: str | None
) -> ArchivalRecord:
    """Archive a competition (a slug), an experiment (a name) or a run (an id).

    `by` is the id of the admin's key; None for a command on the server.

    Raises:
        NotFound: it does not exist.
        Conflict: it is archived already.
    """

    def record(session: Session) -> ArchivalRecord:
        _require(session, kind, name)
        refuse_archived(session, kind, name)
        new = ArchivalRecord(
            kind=kind, name=name, archived_at=datetime.now(UTC), reason=reason, archived_by=by
        )
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
    """

    def record(session: Session) -> None:
        _require(session, kind, name)
        if archivals.current(session, kind, name) is None:
            raise Conflict(f"The {kind.value} {name!r} is not archived, so it cannot be restored.")
        archivals.restore(session, kind, name, at=datetime.now(UTC), reason=reason, by=by)

    context.database.write(record)


def archived(context: Context, kind: ArchivalKind, names: list[str]) -> dict[str, ArchivalRecord]:
    """Which of these are archived now, by name."""
    with context.database.read() as session:
        return archivals.currents(session, kind, names)


def suite_slugs(context: Context, suite: str | None, *, archived: bool = False) -> set[str] | None:
    """The competitions of a suite, those that are archived only with `archived`; None without one.

    Raises:
        NotFound: no suite has this name.
    """
    if not suite:
        return None
    slugs = set(context.catalogue.suite(suite))
    if archived:
        return slugs
    with context.database.read() as session:
        return slugs - set(archivals.currents(session, ArchivalKind.COMPETITION, slugs))


def refuse_archived(session: Session, kind: ArchivalKind, name: str) -> None:
    """Let pass what is not archived.

    Raises:
        Conflict: it is archived; the text has the time and the reason.
    """
    found = archivals.current(session, kind, name)
    if found is not None:
        raise Conflict(
            f"The {kind.value} {name!r} was archived at "
            f"{found.archived_at.isoformat(timespec='seconds')}: {found.reason}. Restore it first."
        )


def _require(session: Session, kind: ArchivalKind, name: str) -> None:
    known = {
        ArchivalKind.COMPETITION: competitions.current_version,
        ArchivalKind.EXPERIMENT: experiments.get,
        ArchivalKind.RUN: runs.get_run,
    }[kind](session, name)
    if known is None:
        raise NotFound(f"There is no {kind.value} {name!r}.")
