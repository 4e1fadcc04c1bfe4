"""Claims of a server that grades what it stores: queued submissions, by turns of their runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import (
    CTE,
    BindParameter,
    ColumnElement,
    CompoundSelect,
    FromClause,
    Integer,
    Lateral,
    Row,
    Select,
    and_,
    bindparam,
    func,
    literal_column,
    select,
    true,
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
LOOKED_AT = 2  # how many times the wanted number
FILE = VersionFile.__table__
TURNS: BindParameter[int] = bindparam("turns", type_=Integer)


def _is_queued(table: FromClause) -> ColumnElement[bool]:
    """The condition that a submission is queued, in a form for which both databases use the index.

    The second part is exactly the condition of the index, without a parameter, so that the index is
    chosen. With the first part PostgreSQL finds the beginning of the index, and each run.
    """
    queued: ColumnElement[str] = literal_column(f"'{SubmissionState.QUEUED.value}'")
    in_index = func.coalesce(table.c.state, literal_column("''")) == queued
    return and_(table.c.state == queued, in_index)


def _runs() -> CTE:
    """The runs that have queued submissions, each found from the one before."""
    # In this order and one at a time, so that SQLite uses the index of queued submissions.
    runs = (
        select(
            select(TABLE.c.run_id)
            .where(_is_queued(TABLE))
            .order_by(TABLE.c.run_id)
            .limit(1)
            .scalar_subquery()
            .label("run_id")
        )
    ).cte("queued_runs", recursive=True)
    later = TABLE.alias("later")
    following = (
        select(later.c.run_id)
        .where(_is_queued(later), later.c.run_id > runs.c.run_id)
        .order_by(later.c.run_id)
        .limit(1)
    )
    return runs.union_all(select(following.scalar_subquery()).where(runs.c.run_id.is_not(None)))


def _first_of_runs(runs: CTE) -> FromClause:
    """The first `turns` queued submissions of each run, and one more to show that there are more.

    So a claim takes the same time however many submissions a run has.
    """
    queued = TABLE.alias("of_run")
    of_run = (_is_queued(queued), queued.c.run_id == runs.c.run_id)
    first = select(queued.c.id, queued.c.run_id, queued.c.version_id).where(*of_run)
    return first.order_by(queued.c.id).limit(TURNS + 1).lateral()


def _first_of_runs_in_sqlite(runs: CTE) -> FromClause:
    """The same for SQLite, which has no LATERAL."""
    queued = TABLE.alias("of_run")
    of_run = select(queued.c.id).where(_is_queued(queued), queued.c.run_id == runs.c.run_id)
    last = of_run.order_by(queued.c.id).limit(1).offset(TURNS).scalar_subquery()
    newest = of_run.with_only_columns(func.max(queued.c.id)).scalar_subquery()
    bounds = select(runs.c.run_id, func.coalesce(last, newest).label("last"))
    # The hint says "few": for many, SQLite with statistics would first read all submissions into a
    # filter.
    few = func.likelihood(runs.c.run_id.is_not(None), literal_column("0.000001"))
    runs_with_bounds = bounds.where(few).cte("bounds").prefix_with("MATERIALIZED")
    # An outer join, although each run has some, so that SQLite begins with the runs.
    upto = and_(
        _is_queued(TABLE),
        TABLE.c.run_id == runs_with_bounds.c.run_id,
        TABLE.c.id <= runs_with_bounds.c.last,
    )
    found = select(TABLE.c.id, TABLE.c.run_id, TABLE.c.version_id)
    return found.select_from(runs_with_bounds.outerjoin(TABLE, upto)).subquery()


def _by_turns(first_of_runs: Callable[[CTE], FromClause]) -> CompoundSelect[Any]:
    """The queued submissions by turns: the first of each run, then the second of each, ...

    At most `with_file` of those whose competition's version has a file at `path`, and at most
    `without_file` of the others. It is one statement, because much of the cost of a statement does
    not depend on what it reads.
    """
    runs = _runs()
    first = first_of_runs(runs)
    turn = func.row_number().over(partition_by=first.c.run_id, order_by=first.c.id)
    at_path = and_(FILE.c.version_id == first.c.version_id, FILE.c.path == bindparam("path"))
    has_file = FILE.c.path.is_not(None)
    each = runs.join(first, true()) if isinstance(first, Lateral) else first
    queued = (
        select(first.c.id, first.c.run_id, turn.label("turn"), has_file.label("has_file"))
        .select_from(each.outerjoin(FILE, at_path))
        .cte("queued")
    )
    return union_all(
        _at_most(queued, queued.c.has_file, "with_file"),
        _at_most(queued, ~queued.c.has_file, "without_file"),
    )


def _at_most(queued: CTE, condition: ColumnElement[bool], limit: str) -> Select[Any]:
    found = select(queued).where(condition).order_by(queued.c.turn, queued.c.id)
    return select(found.limit(bindparam(limit)).subquery())


BY_TURNS = {"postgresql": _by_turns(_first_of_runs), "sqlite": _by_turns(_first_of_runs_in_sqlite)}
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

    `with_file` is the limit for those whose competition's version has a file at the path `file`,
    `without_file` for the others. `most_of_run` is the limit for each run (None: no limit). It
    includes those that the claimant has already: `held` is their number, by run.
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
    found = _queued(session, limits, wanted, most_of_run)
    ids: dict[bool, list[str]] = {}
    for kind in most:
        of_kind = [row for row in found if row.has_file == kind]
        turns = sorted((row.turn + held.get(row.run_id, 0), row.id) for row in of_kind)
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


def _queued(
    session: Session, limits: ClaimLimits, wanted: Mapping[bool, int], most_of_run: int
) -> Sequence[Row[Any]]:
    """The first queued submissions by turns.

    Each turn of each run takes time. Usually the runs of which the claimant has some have more
    queued, so a few turns are enough, which are queried first.
    """
    statement = BY_TURNS[session.get_bind().dialect.name]
    values = {"path": limits.file, "with_file": wanted[True], "without_file": wanted[False]}
    few = math.ceil(min(wanted.values()) / len(limits.held)) if limits.held else most_of_run
    if few < most_of_run:
        found = session.execute(statement, {**values, "turns": few}).all()
        if all(_are_all(found, kind, few, most) for kind, most in wanted.items()):
            return found
    return session.execute(statement, {**values, "turns": most_of_run}).all()


def _are_all(found: Sequence[Row[Any]], kind: bool, turns: int, most: int) -> bool:
    """Whether no more turns are needed for `most` of this kind. A run with more shows one more."""
    of_kind = [row for row in found if row.has_file == kind]
    return len(of_kind) == most or all(row.turn <= turns for row in of_kind)


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
