"""How many files of a run may fail: `failed` reveals something about the answers.

Without a limit, an agent could ask a metric any number of questions, each with a file.

A file also counts as a failure as long as the run's key does not know its outcome: otherwise any
number of files could be sent before the first outcome is known. This applies only where failures
are likely: at a competition with a metric.py, and in a run whose key may know of a failure.
(Built-in metrics have a score for every valid file.) A failure that the key may not know of yet
changes nothing, because a refusal would reveal it. Under the policy `full` files without an outcome
do not count, because a grade reveals more than a failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.domain.feedback import LONGEST_STEP, is_shown
from app.domain.wording import counted
from app.errors import TooManyFailures
from app.services.runtime.own_metrics import OwnMetrics
from app.storage.database.database import Database
from app.storage.database.records import RunRecord
from app.storage.queries import failures, submission_counts

KNOWN_RUNS = 4096
VALID_SECONDS = 60.0  # after this time, a run without failures is looked up again
DAY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class FailuresOfRun:
    """The failures that a run's key may know of, and the submissions that may become one."""

    known: int
    waiting: int


class FailureQuota:
    """The limit of this process for all runs, and what it knows of them."""

    def __init__(self, limit: int, step: float, own_metrics: OwnMetrics) -> None:
        """`limit` is PODIUM_RUN_FAILURES, `step` PODIUM_OUTCOME_STEP_SECONDS."""
        self.limit = limit
        self._step = step
        self._lock = threading.Lock()
        self._own_metrics = own_metrics
        self._clear_until: LRUCache[str, float] = LRUCache(KNOWN_RUNS)

    def may_refuse(self, database: Database, run: RunRecord) -> bool:
        """Whether `refuse` may refuse a file of the run. The answer is at most a minute old."""
        if not run.feedback.shows_state:
            return False
        if self._own_metrics.known_to_have(run.version_id):
            return True
        with self._lock:
            if self._clear_until.get(run.id, 0.0) > time.monotonic():
                return False
        with database.read() as session:
            found = bool(self.bounded(session, [run], datetime.now(UTC)))
        if not found:
            with self._lock:
                self._clear_until[run.id] = time.monotonic() + VALID_SECONDS
        return found

    def bounded(self, session: Session, runs: Collection[RunRecord], now: datetime) -> set[str]:
        """The runs among these with a metric.py, or with failures that their keys may know of.

        It takes one query for all. Files of runs under the policy `none` are never refused.
        """
        own = self._own_metrics.among(session, {run.version_id for run in runs})
        others = [run for run in runs if run.version_id not in own]
        rest = {run.id: run for run in others if run.feedback.shows_state}
        failed = failures.times_by_run(session, rest) if rest else []
        return {run.id for run in runs if run.version_id in own} | {
            run_id
            for run_id, received_at, settled_at in failed
            if not rest[run_id].feedback.hides_time
            or is_shown(received_at, settled_at, now, self._step)
        }

    def refuse(self, session: Session, run: RunRecord, now: datetime, *, accepted: int = 0) -> None:
        """Refuse a file if the run's failures are used up, or would be if all waiting files failed.

        `accepted` is the number of submissions accepted in this transaction but not stored yet.
        Under the policy `none` nothing is refused, because a refusal would reveal what the policy
        hides.

        Raises:
            TooManyFailures: it is refused.
        """
        if not run.feedback.shows_state or not self.bounded(session, [run], now):
            return
        found = self.of_run(session, run, now)
        waiting = 0 if run.feedback.shows_everything else found.waiting + accepted
        if found.known + waiting < self.limit:
            return
        had = f"Grading failed for {counted(found.known, 'file')} of run {run.id}"
        allowed = f"{self.limit} may fail in a run (PODIUM_RUN_FAILURES)"
        if found.known >= self.limit:
            raise TooManyFailures(
                f"{had}, because of what the competition's metric does with them, and {allowed}, "
                "because each reveals something about the answers. The run accepts nothing more, "
                "and waiting does not change that. The operator of this Podium can see the reasons "
                "(podium faults).",
                retry_after=DAY_SECONDS,
            )
        raise TooManyFailures(
            f"{had}, and {counted(waiting, 'file')} without an outcome may fail too: {allowed}. "
            "Nothing was stored. Wait for outcomes, then send it again.",
            retry_after=max(1, round(self._step)),
        )

    def of_run(self, session: Session, run: RunRecord, now: datetime) -> FailuresOfRun:
        """The failures of a run as its own key may know them at the time `now`."""
        # In this order, a file that is settled between two queries counts twice instead of never.
        waiting = submission_counts.open_of_runs(session, [run.id])[run.id]
        total = failures.by_run(session, [run.id]).get(run.id, 0)
        if not run.feedback.hides_time or self._step <= 0:
            return FailuresOfRun(total, waiting)
        since = now - timedelta(seconds=LONGEST_STEP * self._step)
        hidden = [
            one
            for one in failures.settled_since(session, run.id, since)
            if not is_shown(one.received_at, one.settled_at, now, self._step)
        ]
        secret = sum(one.is_failure for one in hidden)
        return FailuresOfRun(total - secret, waiting + len(hidden))
