"""Counts, sums and times over submissions: of one run, of several, and of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from app.domain.states import COUNTED, OPEN, SubmissionState
from app.storage.database.models import IS_GRADED, Run, Submission
from app.storage.database.models import IS_QUEUED as IN_INDEX_OF_QUEUED
from app.storage.queries.ids import first_id
from app.storage.queries.submissions import IS_QUEUED, OF_RUN, PREFIX

TABLE = Submission.__table__
IS_COUNTED = TABLE.c.state.in_(sorted(COUNTED))
LONGEST_UPLOAD = timedelta(days=1)
AHEAD = timedelta(days=2)  # measured from `since`, which is a day ago


def _is_since(table: FromClause) -> ColumnElement[bool]:
    """Whether a submission was received after `since`.

    An id is made when its upload begins, and no upload takes longer than a day. With this limit the
    database reads the rows of two days, not those of the complete run. If a time of receipt is in
    the future, the clock was set back since. A time that is more than a day ahead is left out,
    because it would count until that time comes.
    """
    return and_(
        table.c.received_at > bindparam("since"),
        table.c.received_at <= bindparam("until"),
        table.c.id >= bindparam("first_id"),
    )


def _of_run(column: str, *, since: bool, everything: bool) -> Subquery:
    """A column of a run's submissions that count, or of all of them; `since` a time, or ever.

    Those that count are found by the indexes of graded and of queued ones, and are fewer than the
    run's quota: the files of a run that were rejected, which may be very many, are not read. (With
    a time PostgreSQL reads those of two days, if most files of all runs were graded.)
    """
    # Of all runs, as few are being graded. Computed first, so that no database reads a whole run.
    grading = (
        select(TABLE.c.id, TABLE.c.run_id, TABLE.c.received_at)
        .where(TABLE.c.state == SubmissionState.GRADING)
        .cte("grading")
        .prefix_with("MATERIALIZED")
    )
    conditions: list[tuple[FromClause, tuple[Any, ...]]] = [
        (TABLE, (IS_GRADED,)), (TABLE, (IS_QUEUED, IN_INDEX_OF_QUEUED)), (grading, ()),
    ]  # fmt: skip
    parts: list[Select[Any]] = [
        select(table.c[column]).where(
            table.c.run_id == bindparam("run_id"), *states, *([_is_since(table)] if since else ())
        )
        for table, states in ([(TABLE, ())] if everything else conditions)
    ]
    return union_all(*parts).subquery()


COUNT = {
    (since, everything): select(func.count()).select_from(
        _of_run("id", since=since, everything=everything)
    )
    for since in (False, True)
    for everything in (False, True)
}
COUNT_AT_MOST = select(func.count()).select_from(
    select(TABLE.c.id).where(OF_RUN).limit(bindparam("most", type_=Integer)).subquery()
)


def _latest(of_run: Subquery) -> Select[tuple[datetime]]:
    return (
        select(of_run.c.received_at)
        .order_by(of_run.c.received_at.desc())
        .limit(bindparam("most"))
        .offset(bindparam("later"))
    )


LATEST_SINCE = {
    everything: _latest(_of_run("received_at", since=True, everything=everything))
    for everything in (False, True)
}
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
    query = COUNT[since is not None, everything]
    bound = {"run_id": run_id, **({} if since is None else _since(since))}
    return int(session.execute(query, bound).scalar_one())


def count_at_most(session: Session, run_id: str, most: int) -> int:
    """The number of a run's submissions, of any state; `most` if it has more."""
    return int(session.execute(COUNT_AT_MOST, {"run_id": run_id, "most": most}).scalar_one())


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
    bound = {"run_id": run_id, "later": skipped, "most": later - skipped + 1, **_since(since)}
    latest = sorted(
        [*session.execute(LATEST_SINCE[everything], bound).scalars(), *also], reverse=True
    )
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
