"""Faults of gradings, for admins: why Podium could not grade a submission."""

from __future__ import annotations

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
