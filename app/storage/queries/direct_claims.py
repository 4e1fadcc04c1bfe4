"""Claims of a server that grades what it stores: queued submissions, by turns of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    exists,
    func,
    literal,
    select,
    union_all,
    update,
)
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


def _by_turns(condition: ColumnElement[bool], limit: str, *, has_file: bool) -> Select[Any]:
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
    first = (
        select(queued)
        .where(queued.c.turn <= bindparam("turns"))
        .order_by(queued.c.turn, queued.c.id)
        .limit(bindparam(limit))
        .subquery()
    )
    return select(first, literal(has_file).label("has_file"))


# In one statement: much of what a statement costs is the same whatever it asks for.
BY_TURNS = union_all(
    _by_turns(HAS_FILE, "with_file", has_file=True),
    _by_turns(~HAS_FILE, "without_file", has_file=False),
)
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


@dataclass(frozen=True, slots=True)
class ClaimLimits:
    """How many submissions are claimed at most, and how many of a run.

    `with_file` of those whose competition's version has a file at the path `file`, `without_file`
    of those whose version has none. `held` is the number of submissions of each run that the
    claimant has claimed already. It gets at most `most_of_run` of a run, those among them; None
    sets no limit.
    """

    file: str
    with_file: int = 0
    without_file: int = 0
    most_of_run: int | None = None
    held: Mapping[str, int] = field(default_factory=dict)


def claim(
    session: Session, claimant: str, limits: ClaimLimits, now: datetime
) -> tuple[list[ClaimRecord], bool]:
    """Claim queued submissions for `claimant`, by turns of their runs.

    Returns the claims, and whether other submissions may be queued.
    """
    held = limits.held
    most = {False: limits.without_file, True: limits.with_file}
    wanted = {kind: LOOKED_AT * max(1, most[kind]) + sum(held.values()) for kind in most}
    most_of_run = max(wanted.values()) if limits.most_of_run is None else limits.most_of_run
    values = {
        "turns": most_of_run + 1,  # the last only shows that there is more
        "path": limits.file,
        "with_file": wanted[True],
        "without_file": wanted[False],
    }
    found = session.execute(BY_TURNS, values).all()
    ids: dict[bool, list[str]] = {}
    for kind in most:
        turns = sorted(
            (row.turn + held.get(row.run_id, 0), row.id) for row in found if row.has_file == kind
        )
        ids[kind] = [submission for turn, submission in turns if turn <= most_of_run]
    firsts = [submission for kind, limit in most.items() for submission in ids[kind][:limit]]
    claimed = claim_named(session, claimant, firsts, now)
    if len(claimed) < len(firsts):  # another process is claiming these at this moment
        missing = set(firsts) - {one.id for one in claimed}
        others = [
            submission
            for kind, limit in most.items()
            for submission in ids[kind][limit:][: len(missing & set(ids[kind]))]
        ]
        claimed += claim_named(session, claimant, others, now)
    return claimed, len(found) > len(claimed)


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
