"""Counts, sums and times over submissions: of one run, of several, and of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select
from sqlalchemy.orm import Session

from app.domain.states import COUNTED, OPEN, SubmissionState
from app.storage.database.models import Run, Submission
from app.storage.queries.ids import first_id
from app.storage.queries.submissions import IS_QUEUED, OF_RUN, PREFIX

TABLE = Submission.__table__
IS_COUNTED = TABLE.c.state.in_(sorted(COUNTED))
COUNT_ALL = select(func.count()).select_from(TABLE).where(OF_RUN)
# An id is made when its upload begins, and no upload takes longer than a day. With this limit the
# database reads the rows of two days, not those of the complete run. If a time of receipt is in the
# future, the clock was set back since. A time that is more than a day ahead is left out, because it
# would count until that time comes.
IS_SINCE = and_(
    TABLE.c.received_at > bindparam("since"),
    TABLE.c.received_at <= bindparam("until"),
    TABLE.c.id >= bindparam("first_id"),
)
LONGEST_UPLOAD = timedelta(days=1)
AHEAD = timedelta(days=2)  # measured from `since`, which is a day ago
LATEST_SINCE = (
    select(TABLE.c.received_at)
    .where(OF_RUN, IS_SINCE)
    .order_by(TABLE.c.received_at.desc())
    .limit(bindparam("most"))
    .offset(bindparam("later"))
)
UNCOUNTED_SINCE = select(TABLE.c.received_at, TABLE.c.settled_at).where(
    OF_RUN, TABLE.c.settled_at > bindparam("since"), ~IS_COUNTED
)
LAST_ROWS = (
    select(TABLE, Run.__table__)
    .join(Run.__table__, Run.__table__.c.id == TABLE.c.run_id)
    .order_by(TABLE.c.id.desc())
    .limit(1)
)
# Computed first, so that no database reads all submissions of a run to find the open ones.
ALL_OPEN = (
    select(TABLE.c.run_id)
    .where(TABLE.c.state.in_(OPEN))
    .cte("all_open")
    .prefix_with("MATERIALIZED")
)
OPEN_OF_RUNS = (
    select(ALL_OPEN.c.run_id, func.count().label("number"))
    .where(ALL_OPEN.c.run_id.in_(bindparam("run_ids", expanding=True)))
    .group_by(ALL_OPEN.c.run_id)
)
OLDEST_QUEUED = select(TABLE.c.received_at).where(IS_QUEUED).order_by(TABLE.c.id).limit(1)


def count_counted(
    session: Session, run_id: str, since: datetime | None = None, *, everything: bool = False
) -> int:
    """The number of submissions received after `since` that count against the run's quota.

    With `everything`, rejected and failed submissions count too.
    """
    query = COUNT_ALL if everything else COUNT_ALL.where(IS_COUNTED)
    if since is None:
        return int(session.execute(query, {"run_id": run_id}).scalar_one())
    bound = {"run_id": run_id, **_since(since)}
    return int(session.execute(query.where(IS_SINCE), bound).scalar_one())


def counted_time(
    session: Session,
    run_id: str,
    since: datetime,
    *,
    later: int,
    everything: bool = False,
    others: Sequence[datetime] = (),
) -> datetime | None:
    """The time of the submission after `since` that `later` other ones of the quota follow.

    With `everything`, rejected and failed submissions count too. So do those that were received at
    the times of `others`. None if there is none.
    """
    also = [at for at in others if at > since]
    skipped = max(0, later - len(also))  # how many of the latest that count are skipped
    query = LATEST_SINCE if everything else LATEST_SINCE.where(IS_COUNTED)
    bound = {"run_id": run_id, "later": skipped, "most": later - skipped + 1, **_since(since)}
    latest = sorted([*session.execute(query, bound).scalars(), *also], reverse=True)
    return latest[later - skipped] if len(latest) > later - skipped else None


def _since(since: datetime) -> dict[str, Any]:
    made = (since - LONGEST_UPLOAD).timestamp()
    until = since + AHEAD
    return {"since": since, "until": until, "first_id": first_id(PREFIX, int(made * 1_000_000))}


def count_open(session: Session, bounds: Sequence[int]) -> dict[tuple[SubmissionState, int], int]:
    """The number of queued submissions and of those being graded, by state and size bucket.

    Bucket 0 is below the first of `bounds` (bytes, ascending), and so on. Zeros are absent.
    """
    size_bucket = case(
        *((TABLE.c.bytes < bound, number) for number, bound in enumerate(bounds)),
        else_=len(bounds),
    )
    is_open = or_(IS_QUEUED, TABLE.c.state == SubmissionState.GRADING)
    query = (
        select(TABLE.c.state, size_bucket, func.count())
        .where(is_open)
        .group_by(TABLE.c.state, size_bucket)
    )
    return {(state, int(size)): int(count) for state, size, count in session.execute(query)}


def open_of_runs(session: Session, run_ids: Collection[str]) -> Counter[str]:
    """The number of submissions of each of these runs that are not settled."""
    rows = session.execute(OPEN_OF_RUNS, {"run_ids": sorted(run_ids)})
    return Counter({row.run_id: row.number for row in rows})


def oldest_queued(session: Session) -> datetime | None:
    """The time when the oldest queued submission was received."""
    return session.execute(OLDEST_QUEUED).scalar_one_or_none()


def last_received(session: Session, run_id: str) -> datetime | None:
    """The latest time at which a submission of a run was received; None if it has none."""
    query = select(func.max(TABLE.c.received_at)).where(TABLE.c.run_id == run_id)
    return session.execute(query).scalar()


def stored_bytes(session: Session, run_id: str) -> int:
    """The bytes of all submissions of a run together."""
    query = select(func.coalesce(func.sum(TABLE.c.bytes), 0)).where(TABLE.c.run_id == run_id)
    return int(session.execute(query).scalar_one())


def uncounted_since(
    session: Session, run_id: str, since: datetime
) -> list[tuple[datetime, datetime]]:
    """The times of receipt and outcome of rejected and failed submissions settled after `since`."""
    rows = session.execute(UNCOUNTED_SINCE, {"run_id": run_id, "since": since})
    return [(row.received_at, row.settled_at) for row in rows]


def read_last_rows(session: Session) -> None:
    """Read the last submission and its run, which raises if their page is damaged."""
    session.execute(LAST_ROWS).one_or_none()
