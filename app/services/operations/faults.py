"""Faults of gradings, for admins: why Podium could not grade a submission."""

from __future__ import annotations

from collections.abc import Iterable

from app.errors import NotFound
from app.graders.messages.results import ABOUT_KILLED, KILLED
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of
from app.storage.queries import submissions
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


def require_submission(context: Context, submission_id: str) -> None:
    """Make sure that a submission exists.

    Raises:
        NotFound: it does not.
    """
    with context.database.read() as session:
        if submissions.get_submission(session, submission_id) is None:
            raise NotFound(f"There is no submission {submission_id!r}.")


def notes(found: Iterable[ListedFault]) -> list[str]:
    """Notes on these faults for an admin, in addition to their kind and line."""
    killed = (KILLED.kind, KILLED.place)
    return [ABOUT_KILLED] if any((one.kind, one.place) == killed for one in found) else []
