"""What is archived now. `services/experiments/archiving` archives and restores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from app.domain.states import ArchivalKind
from app.domain.wording import first_few
from app.errors import Conflict
from app.services.runtime.context import Context
from app.storage.queries import amendments
from app.storage.queries import archive as archivals
from app.storage.queries.archive import ArchivalRecord

MOST_NAMED = 5  # archived competitions that a refusal names


def archived(context: Context, kind: ArchivalKind, names: list[str]) -> dict[str, ArchivalRecord]:
    """Which of these are archived now, by name."""
    with context.database.read() as session:
        return archivals.currents(session, kind, names)


def suite_slugs(
    context: Context,
    suite: str | None,
    *,
    archived: bool = False,
    as_of: datetime | None = None,
) -> set[str] | None:
    """The competitions of a suite, with archived ones only if `archived`; None without a suite.

    With `as_of`, competitions count as archived if they were archived then.

    Raises:
        NotFound: no suite has this name.
    """
    if not suite:
        return None
    slugs = set(context.catalogue.suite(suite))
    return slugs if archived else slugs - _archived_of_suite(context, suite, as_of)


def archived_competitions(
    context: Context,
    suite: str | None,
    experiments: Sequence[str] | None = None,
    *,
    archived: bool = False,
    as_of: datetime | None = None,
) -> Callable[[str], tuple[str, ...]]:
    """For each of these experiments (None: all), the archived competitions that its results omit.

    These are the archived competitions of the suite, or without a suite those at which the
    experiment has results; with `archived` none. One query reads them for all experiments.

    Raises:
        NotFound: no suite has this name.
    """
    if archived:
        return lambda _: ()
    if suite:
        of_suite = tuple(sorted(_archived_of_suite(context, suite, as_of)))
        return lambda _: of_suite
    with context.database.read() as session:
        found = archivals.competitions_left_out(session, experiments, as_of)
        gone = [] if as_of is None else amendments.withdrawn_since(session, as_of)
        slugs = {each.competition for each in gone}
        hidden = archivals.archived_among(session, ArchivalKind.COMPETITION, slugs, as_of)
    for each in gone:
        if each.competition in hidden:
            found.setdefault(each.experiment, set()).add(each.competition)
    return lambda name: tuple(sorted(found.get(name, ())))


def archived_note(hidden: Sequence[str]) -> str:
    """A sentence that names archived competitions, for an error about missing results at others.

    >>> archived_note(["leaf-classification"])
    ' Left out because archived: leaf-classification. Ask with archived=true to count it.'
    """
    if not hidden:
        return ""
    them = "it" if len(hidden) == 1 else "them"
    named = first_few(hidden, MOST_NAMED)
    return f" Left out because archived: {named}. Ask with archived=true to count {them}."


def _archived_of_suite(context: Context, suite: str, as_of: datetime | None) -> set[str]:
    with context.database.read() as session:
        hidden = archivals.names_of(ArchivalKind.COMPETITION, as_of)
        return set(context.catalogue.suite(suite)) & set(session.execute(hidden).scalars())


def refuse_archived(
    session: Session, kind: ArchivalKind, name: str, *, tells_reason: bool = True
) -> None:
    """Refuse an archived thing. Only readers of results see the reason that an admin wrote.

    Raises:
        Conflict: it is archived; the text has the time and, with `tells_reason`, the reason.
    """
    found = archivals.current(session, kind, name)
    if found is None:
        return
    was = f"The {kind.value} {name!r} was archived at"
    at = found.archived_at.isoformat(timespec="seconds")
    if not tells_reason:
        raise Conflict(f"{was} {at}. Ask the operator of this Podium to restore it.")
    raise Conflict(f"{was} {at}: {found.reason}. Restore it first.")
