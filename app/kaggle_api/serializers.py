"""Submissions in the form of Kaggle's clients. Fields that the policy hides are empty strings."""

from __future__ import annotations

from typing import Any

from app.services.submissions.disclose import RECEIVED, Disclosed

# The clients know these three states and fail on any other.
STATUS = {
    "queued": "PENDING",
    "grading": "PENDING",
    "graded": "COMPLETE",
    "rejected": "ERROR",
    "failed": "ERROR",
    RECEIVED: "COMPLETE",  # policy `none`: the same state for every file, and final
}


def submission(shown: Disclosed, user: str) -> dict[str, Any]:
    """One submission."""
    record, grade = shown.submission, shown.grade or {}
    return {
        "ref": reference(record.id),
        "totalBytes": record.bytes,
        "date": record.received_at.isoformat(),
        "description": record.message,
        "errorDescription": (shown.problem or {}).get("detail", ""),
        "fileName": record.file_name or "submission.csv",
        "publicScore": number(grade.get("public_score")),
        "privateScore": number(grade.get("score")),
        "status": STATUS[shown.state],
        "submittedBy": user,
        "submittedByRef": user,
        "teamName": shown.run.id,
        "url": f"/v1/submissions/{record.id}",
    }


def number(score: float | None) -> str:
    """A score, unrounded; empty if there is none."""
    return "" if score is None else repr(score)


def reference(submission_id: str) -> int:
    """A submission's number for Kaggle's clients: the microseconds in its id, to find it again.

    >>> reference("sub_000000000000ff0123456789ab")
    255
    """
    return int(submission_id.removeprefix("sub_")[:14], 16)


def refusal(shown: Disclosed) -> str:
    """The mistakes of a rejected file as one text."""
    problem = shown.problem or {}
    found = problem.get("violations", [])
    words = "; ".join(f"({n}) {violation['message']}" for n, violation in enumerate(found, start=1))
    more = problem.get("violation_count", 0) - len(found)
    return (
        f"This is not a valid submission. {words or problem.get('detail', '')}."
        + (f" And {more} more." if more > 0 else "")
        + " It does not count against the number of submissions."
    )
