"""The door through which submissions enter the database: many at once, each by the run's rules."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.domain.states import RunState
from app.errors import IdempotencyMismatch, PodiumError, QuotaExceeded, RunClosed
from app.storage import runs, submissions
from app.storage.records import RunRecord, SubmissionRecord

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Received:
    """A stored submission, and whether this request stored it."""

    submission: SubmissionRecord
    created: bool


class _Door:
    """One group of submissions: what its runs allow, and what the group itself has used up."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs: dict[str, RunRecord | None] = {}
        self._keys: dict[tuple[str, str], SubmissionRecord] = {}
        self._accepted: Counter[str] = Counter()
        self.new: list[SubmissionRecord] = []

    def receive(self, offered: SubmissionRecord) -> Received:
        """Let a submission in, or find the one that its Idempotency-Key stands for.

        Raises:
            RunClosed, QuotaExceeded, IdempotencyMismatch: it is not let in.
        """
        known = self._known(offered)
        if known is not None:
            if known.sha256 != offered.sha256:
                raise IdempotencyMismatch(
                    f"This Idempotency-Key already came with other bytes ({known.id}). "
                    "Send a new key with a new file."
                )
            return Received(known, created=False)
        run = self._run(offered.run_id)
        if run is None or run.state is RunState.CLOSED:
            raise RunClosed(f"Run {offered.run_id} is closed and accepts nothing more.")
        if run.limits:
            self._refuse_over_quota(run, offered.received_at)
        self._accepted[run.id] += 1
        if offered.idempotency_key is not None:
            self._keys[run.id, offered.idempotency_key] = offered
        self.new.append(offered)
        return Received(offered, created=True)

    def _run(self, run_id: str) -> RunRecord | None:
        if run_id not in self._runs:
            self._runs[run_id] = runs.lock_run(self._session, run_id)
        return self._runs[run_id]

    def _known(self, offered: SubmissionRecord) -> SubmissionRecord | None:
        if offered.idempotency_key is None:
            return None
        self._run(offered.run_id)  # locks the run: two servers do not look for one key at once
        here = self._keys.get((offered.run_id, offered.idempotency_key))
        return here or submissions.by_idempotency_key(
            self._session, offered.run_id, offered.idempotency_key
        )

    def _refuse_over_quota(self, run: RunRecord, now: datetime) -> None:
        """Count what is graded and what may yet be; a rejected or failed file costs nothing."""
        total = run.limits.get("submissions_total", math.inf)
        per_day = run.limits.get("submissions_per_day")
        accepted = self._accepted[run.id]
        if submissions.count_counted(self._session, run.id) + accepted >= total:
            raise QuotaExceeded(
                f"Run {run.id} has used all of its {total} submissions.",
                retry_after=int(DAY.total_seconds()),
            )
        if per_day is None:
            return
        times = submissions.counted_times(self._session, run.id, since=now - DAY)
        if len(times) + accepted < per_day:
            return
        free_at = (times[-per_day] if len(times) >= per_day else now) + DAY
        raise QuotaExceeded(
            f"Run {run.id} may send {per_day} submissions in 24 hours; "
            f"the next is free at {free_at.isoformat(timespec='seconds')}.",
            retry_after=int((free_at - now).total_seconds()) + 1,
        )


def take_in(session: Session, offered: list[SubmissionRecord]) -> list[Received | Exception]:
    """Store submissions, in their order; the error in the place of one that is refused."""
    door = _Door(session)
    outcomes: list[Received | Exception] = []
    for one in offered:
        try:
            outcomes.append(door.receive(one))
        except PodiumError as refusal:
            outcomes.append(refusal)
    submissions.add_submissions(session, door.new)
    return outcomes
