"""Regrades as JSON documents, for HTTP and for the command."""

from __future__ import annotations

from typing import Any

from app.domain.states import RegradeState
from app.services.regrades import show
from app.services.regrades.difference import changes, summary
from app.services.regrades.show import ShownRegrade
from app.services.runtime.context import Context
from app.services.runtime.pages import wrong_cursor


def regrade_document(shown: ShownRegrade) -> dict[str, Any]:
    """A regrade and its progress."""
    record = shown.record
    return {
        "id": record.id,
        "competition": record.competition,
        "version": shown.version,
        "submission": record.submission_id,
        "state": record.state,
        "podium_version": record.podium_version,
        "environment": record.environment,
        "progress": {
            "total": shown.total,
            "waiting": shown.waiting,
            "graded": shown.graded,
            "rejected": shown.rejected,
            "failed": shown.failed,
            "missing": shown.missing,
        },
        "created_by": record.created_by,
        "created_at": record.created_at,
        "ready_at": record.ready_at,
        "reason": record.reason,
        "decided_by": record.decided_by,
        "applied_at": record.applied_at,
        "cancelled_at": record.cancelled_at,
        "superseded_at": record.superseded_at,
        "replaces": record.replaces,
    }


def regrade_details(
    context: Context, regrade_id: str, cursor: str | None, limit: int
) -> dict[str, Any]:
    """A regrade with what it changes, and a page of the submissions that differ.

    Raises:
        NotFound: it does not exist.
        Invalid: the cursor is not of this list.
    """
    if cursor is not None and not cursor.startswith("sub_"):
        raise wrong_cursor()
    shown = show.find(context, regrade_id)
    document = regrade_document(shown)
    if shown.record.state is RegradeState.RUNNING or shown.waiting:
        return {**document, "difference": None, "changes": [], "next_cursor": None}
    found, after = changes(context, shown.record, cursor, limit)
    return {
        **document,
        "difference": summary(context, shown.record),
        "changes": [one._asdict() for one in found],
        "next_cursor": after,
    }
