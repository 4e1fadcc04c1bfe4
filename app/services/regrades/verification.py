"""Compare a regrade under the same versions with the first grades."""

from __future__ import annotations

from typing import Any

from app.services.runtime.context import Context
from app.storage.queries.regrades import differences, regrades

LISTED_DIFFERENCES = 1000


def verification(context: Context, regrade_id: str) -> dict[str, Any]:
    """Compare the outcomes of a regrade with the first grades, to the last bit.

    `other_environment` counts first grades that another version of Podium, Python or a library
    made, where a difference is no surprise. `faults` counts submissions that had a result and
    failed now.
    """
    with context.database.read() as session:
        regrade = regrades.get(session, regrade_id)
        assert regrade is not None  # noqa: S101 (regrades are never deleted)
        counts = differences.count_differences(session, regrade_id, None)
        found = differences.differences(
            session, regrade_id, None, after=None, limit=LISTED_DIFFERENCES
        )
        other = differences.count_other_environments(
            session, regrade_id, regrade.podium_version, regrade.environment
        )
    return {
        "compared": counts.submissions,
        "equal": counts.equal,
        "different": counts.submissions - counts.equal,
        "faults": counts.newly_failed,
        "other_environment": other,
        "submissions": [one._asdict() for one in found],
    }
