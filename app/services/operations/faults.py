"""Faults of gradings, for admins: why Podium could not grade a submission."""

from __future__ import annotations

from collections.abc import Iterable

from app.graders.messages.results import ABOUT_KILLED, KILLED
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.storage.queries.operation import faults
from app.storage.queries.operation.faults import ListedFault


def page(
    context: Context, submission_id: str | None, before: int | None, limit: int
) -> tuple[list[ListedFault], int | None]:
    """Faults, latest first, and the cursor of the next page."""
    with context.database.read() as session:
        found = faults.list_faults(
            session, submission_id=submission_id, before=before, limit=limit + 1
        )
    return page_of(found, limit, lambda one: one.id)


def notes(found: Iterable[ListedFault]) -> list[str]:
    """What an admin should know of these faults that their kind and place do not say."""
    killed = (KILLED.kind, KILLED.place)
    return [ABOUT_KILLED] if any((one.kind, one.place) == killed for one in found) else []
