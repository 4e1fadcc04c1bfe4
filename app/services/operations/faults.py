"""Faults of gradings, for admins: why Podium could not grade a submission."""

from __future__ import annotations

from collections.abc import Iterable

from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.storage.queries.operation import faults
from app.storage.queries.operation.faults import ListedFault

KILLED = ("crashed", "signal 9")
ABOUT_KILLED = (
    "A grading that crashed at signal 9 was killed, most often by the system because the machine "
    "or its container had no memory left. Give it more memory, or bound what gradings take: "
    "PODIUM_GRADERS is the number of graders, PODIUM_GRADER_MEMORY_MB the memory of each."
)


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
    return [ABOUT_KILLED] if any((one.kind, one.place) == KILLED for one in found) else []
