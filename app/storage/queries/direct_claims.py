"""Claims of a server that grades what it stores: queued submissions, by turns of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, select, update
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database import notify
from app.storage.database.models import Run, Submission, VersionFile
from app.storage.database.records import ClaimRecord

TABLE = Submission.__table__
RUN = Run.__table__
IS_QUEUED = TABLE.c.state == SubmissionState.QUEUED
LOOKED_AT = 2  # times as many as wanted
# The version of a submission has a file at a path: that of its own metric.
HAS_FILE = exists().where(
    VersionFile.version_id == TABLE.c.version_id, VersionFile.path == bindparam("path")
)


def _by_turns(condition: ColumnElement[bool]) -> Select[tuple[str, str, int]]:
    """The queued submissions by turns: the first of each run, then the second of each, ..."""
    queued = (
        select(
            TABLE.c.id,
            TABLE.c.run_id,
            func.row_number().over(partition_by=TABLE.c.run_id, order_by=TABLE.c.id).label("turn"),
        )
        .where(IS_QUEUED, condition)
        .subquery()
    )
    return (
        select(queued)
        .where(queued.c.turn <= bindparam("most"))
        .order_by(queued.c.turn, queued.c.id)
        .limit(bindparam("limit"))
    )


BY_TURNS = {True: _by_turns(HAS_FILE), False: _by_turns(~HAS_FILE)}
CLAIMABLE = (
    select(
        TABLE.c.id,
        TABLE.c.run_id,
        TABLE.c.version_id,
        RUN.c.competition,
        TABLE.c.sha256,
        (TABLE.c.attempts + 1).label("attempts"),
    )
    .join(RUN, RUN.c.id == TABLE.c.run_id)
    .where(IS_QUEUED, TABLE.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(TABLE.c.id)
    # Skip rows that another process is claiming at this moment.
    .with_for_update(of=TABLE, skip_locked=True)
)
CLAIM = (
    update(TABLE)
    .where(TABLE.c.id.in_(bindparam("ids", expanding=True)))
    .values(
        state=SubmissionState.GRADING,
        attempts=TABLE.c.attempts + 1,
        claimed_by=bindparam("claimant"),
        claimed_at=bindparam("now"),
    )
)


def claim(
    session: Session,
    claimant: str,
    limit: int,
    now: datetime,
    *,
    file: str,
    has_file: bool,
    most_of_run: int | None = None,
    held: Mapping[str, int] = MappingProxyType({}),
) -> list[ClaimRecord]:
    """Claim up to `limit` queued submissions for `claimant`, by turns of their runs.

    With `has_file` only those whose competition's version has a file at the path `file`, otherwise
    only those whose version has none. `held` is the number of submissions of each run that the
    claimant has claimed already. It gets at most `most_of_run` of a run, those among them; None
    sets no limit.
    """
    wanted = LOOKED_AT * limit + sum(held.values())
    most_of_run = wanted if most_of_run is None else most_of_run
    values = {"most": most_of_run, "limit": wanted, "path": file}
    found = session.execute(BY_TURNS[has_file], values)
    turns = sorted((row.turn + held.get(row.run_id, 0), row.id) for row in found)
    ids = [submission for turn, submission in turns if turn <= most_of_run]
    claimed = claim_named(session, claimant, ids[:limit], now)
    if len(claimed) < limit:  # another process is claiming the first ones at this moment
        others = ids[limit : LOOKED_AT * limit - len(claimed)]
        claimed += claim_named(session, claimant, others, now)
    return claimed


def claim_named(
    session: Session, claimant: str, ids: Sequence[str], now: datetime
) -> list[ClaimRecord]:
    """Claim those of the submissions with these ids that are queued, for `claimant`."""
    if not ids:
        return []
    rows = {row["id"]: row for row in session.execute(CLAIMABLE, {"ids": ids}).mappings()}
    claimed = [rows[submission] for submission in ids if submission in rows]
    if claimed:
        values = {"ids": [row["id"] for row in claimed], "claimant": claimant, "now": now}
        session.execute(CLAIM, values)
        notify.publish(session, {row["run_id"] for row in claimed})
    return [ClaimRecord(**row, claimed_by=claimant) for row in claimed]
