"""What is archived now. `services/experiments/archiving` archives and restores."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.errors import Conflict
from app.services.runtime.context import Context
from app.storage.queries import archive as archivals
from app.storage.queries.archive import ArchivalRecord


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
