"""What is archived of that which a page shows, with the time and the reason."""

from __future__ import annotations

from collections.abc import Collection

from app.domain.states import ArchivalKind
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries import archive
from app.storage.queries.archive import ArchivalRecord


def archived_of_run(context: Context, run: RunRecord) -> list[ArchivalRecord]:
    """The archivings of a run, of its experiment and of its competition."""
    parts = (
        (ArchivalKind.EXPERIMENT, run.experiment),
        (ArchivalKind.COMPETITION, run.competition),
        (ArchivalKind.RUN, run.id),
    )
    with context.database.read() as session:
        return archive.currents_among(session, parts)


def archived_of_competition(context: Context, slug: str) -> list[ArchivalRecord]:
    """The archiving of a competition, if it is archived."""
    with context.database.read() as session:
        return archive.currents_among(session, [(ArchivalKind.COMPETITION, slug)])


def archived_of_experiments(context: Context, names: Collection[str]) -> list[ArchivalRecord]:
    """The archivings of experiments, and of the competitions of their runs and imported results.

    Their rates leave out what is at these competitions.
    """
    with context.database.read() as session:
        return archive.currents_of_experiments(session, names)
