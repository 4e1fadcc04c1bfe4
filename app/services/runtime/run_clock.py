"""The clock of a run: its hours count from the first request of its key.

Why: docs/decisions/0026-a-runs-clock-starts-at-its-first-request.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from app.services.runtime.context import Context
from app.storage.queries import runs


def start_clocks(context: Context, run_ids: Iterable[str | None]) -> None:
    """Start the clocks of these runs now, where they have not started. None is ignored.

    Returns when the start is committed. A clock is started once, whatever the number of servers.

    Raises:
        Unavailable: the database stays locked or away.
    """
    waiting = {run_id for run_id in run_ids if run_id is not None}
    if not waiting:
        return
    now = datetime.now(UTC)
    context.database.write(lambda session: runs.start_clocks(session, waiting, now))
