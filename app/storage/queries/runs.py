"""Runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.orm import Session

from app.domain.states import RunState
from app.storage.database import notify
from app.storage.database.models import Run
from app.storage.database.records import RunRecord
from app.storage.database.rows import one, record, values
from app.storage.queries import archive

TABLE = Run.__table__
BY_ID = select(TABLE).where(TABLE.c.id == bindparam("id"))
LOCK = BY_ID.with_for_update()
BY_IDS = select(TABLE).where(TABLE.c.id.in_(bindparam("ids", expanding=True)))
# All servers lock in the same order, so that there is no deadlock.
LOCK_ALL = BY_IDS.order_by(TABLE.c.id).with_for_update()


def add_run(session: Session, record: RunRecord) -> RunRecord:
    """Store a run.

    Raises:
        IntegrityError: the experiment has a run with this seed at this competition.
    """
    session.execute(insert(TABLE), values(record))
    return record


def get_run(session: Session, run_id: str) -> RunRecord | None:
    """The run with this id."""
    return one(RunRecord, session.execute(BY_ID, {"id": run_id}).one_or_none())


def get_runs(session: Session, run_ids: Collection[str]) -> dict[str, RunRecord]:
    """The runs among these that exist, by their ids."""
    return _by_id(session.execute(BY_IDS, {"ids": sorted(run_ids)}))


def lock_run(session: Session, run_id: str) -> RunRecord | None:
    """Lock the run until this transaction ends, and return it.

    In SQLite there is one writing transaction at a time, so no lock is needed.
    """
    return one(RunRecord, session.execute(LOCK, {"id": run_id}).one_or_none())


def lock_runs(session: Session, run_ids: Collection[str]) -> dict[str, RunRecord]:
    """Lock these runs until this transaction ends, and return those that exist, by their ids."""
    return _by_id(session.execute(LOCK_ALL, {"ids": list(run_ids)}))


def _by_id(rows: Iterable[Row[Any]]) -> dict[str, RunRecord]:
    return {run.id: run for run in (record(RunRecord, row) for row in rows)}


def find_run(session: Session, experiment: str, competition: str, seed: int) -> RunRecord | None:
    """The experiment's run with this seed at this competition."""
    query = select(TABLE).where(
        TABLE.c.experiment == experiment,
        TABLE.c.competition == competition,
        TABLE.c.seed == seed,
    )
    return one(RunRecord, session.execute(query).one_or_none())


def start_clocks(session: Session, run_ids: Collection[str], at: datetime) -> None:
    """Start the clocks of these runs, except those that have started and those of closed runs.

    One statement decides, so that of several servers the first one sets the time.
    """
    session.execute(
        update(TABLE)
        .where(
            TABLE.c.id.in_(sorted(run_ids)),
            TABLE.c.started_at.is_(None),
            TABLE.c.state == RunState.OPEN,
        )
        .values(started_at=at)
    )


def list_runs(
    session: Session,
    *,
    experiment: str | None = None,
    competition: str | None = None,
    state: RunState | None = None,
    archived: bool = False,
    after: str | None = None,
    limit: int | None,
) -> list[RunRecord]:
    """Runs, oldest first, at most `limit` after the id `after`.

    Without `archived`, archived runs are left out, and so are runs of archived experiments and
    competitions that are not named.
    """
    query = select(TABLE).order_by(TABLE.c.id).limit(limit)
    if not archived:
        shown = archive.is_shown(
            TABLE,
            experiment_named=experiment is not None,
            competition_named=competition is not None,
        )
        query = query.where(*shown)
    if state is not None:
        query = query.where(TABLE.c.state == state)
    if experiment is not None:
        query = query.where(TABLE.c.experiment == experiment)
    if competition is not None:
        query = query.where(TABLE.c.competition == competition)
    if after is not None:
        query = query.where(TABLE.c.id > after)
    return [RunRecord(**row) for row in session.execute(query).mappings()]


def update_run(session: Session, run_id: str, **changes: Any) -> RunRecord:
    """Change fields of a run. Returns the changed run.

    Raises:
        NoResultFound: the run does not exist.
        ValueError: a run has no such field.
    """
    unknown = sorted(set(changes) - set(TABLE.c.keys()))
    if unknown:
        raise ValueError(f"a run has no {', '.join(unknown)}")
    query = update(TABLE).where(TABLE.c.id == run_id).values(changes).returning(TABLE)
    notify.publish(session, [run_id])
    return RunRecord(**session.execute(query).mappings().one())
