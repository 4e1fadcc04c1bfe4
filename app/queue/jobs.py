"""Put jobs into the queue, in the same transaction that stores their submissions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Row, column, func, select, table, text
from sqlalchemy.orm import Session

from app.domain.competition import METRIC_FILE
from app.queue.sizes import queue_of

MISSED_HEARTBEATS = 4  # missed heartbeats after which a worker is presumed dead
TASK = "grade"
ARGUMENT = "submission"
REGRADE_TASK = "regrade"
REGRADE_ARGUMENT = "regrade_id"
# A job's priority is reduced by one for each file of its run that is not settled yet, so runs take
# turns. If a run has very many files, the rest of them have the lowest priority.
LEAST_PRIORITY = -1000
REGRADE_PRIORITY = 2 * LEAST_PRIORITY  # below that of live submissions
FORGOTTEN_LOCK = (
    0x706F6469756E  # an advisory lock: one process at a time queues forgotten submissions
)
FORGOTTEN_PER_QUERY = 5000  # forgotten submissions that are queued by one call at most

JOBS = table(
    "procrastinate_jobs", column("id"), column("status"), column("args"),
    column("task_name"),
)  # fmt: skip
SUBMISSIONS = table(
    "submission",
    column("id"),
    column("run_id"),
    column("state"),
    column("bytes"),
    column("version_id"),
)
REGRADES = table("regrade", column("id"), column("state"))
OUTCOMES = table(
    "regrade_outcome", column("regrade_id"), column("submission_id"), column("state"),
    column("version_id"),
)  # fmt: skip
VERSION_FILES = table("version_file", column("version_id"), column("path"))
COUNT_WORKERS = text(
    "SELECT count(*) FROM procrastinate_workers "
    "WHERE last_heartbeat > now() - make_interval(secs => :silence)"
)
IS_ALIVE = text("procrastinate_jobs.status IN ('todo', 'doing')")


def _has_own_metric(given: FromClause) -> ColumnElement[bool]:
    """Whether the version of a row has a metric.py."""
    of_version = VERSION_FILES.c.version_id == given.c.version_id
    files = select(VERSION_FILES.c.path).where(of_version, VERSION_FILES.c.path == METRIC_FILE)
    return files.exists().label("has_own_metric")


# Each open submission with the number of open ones of its run before it.
OPEN = (
    select(
        SUBMISSIONS.c.id, SUBMISSIONS.c.bytes, SUBMISSIONS.c.version_id,
        (func.row_number().over(partition_by=SUBMISSIONS.c.run_id, order_by=SUBMISSIONS.c.id) - 1)
        .label("behind"),
    )
    .where(SUBMISSIONS.c.state.in_(["queued", "grading"]))
    .subquery("open")
)  # fmt: skip
FORGOTTEN = (
    select(OPEN.c.id, OPEN.c.bytes, OPEN.c.behind, _has_own_metric(OPEN))
    .where(
        ~select(JOBS.c.id)
        .where(
            IS_ALIVE,
            JOBS.c.task_name == TASK,
            text(f"procrastinate_jobs.args->>'{ARGUMENT}' = open.id"),
        )
        .exists(),
    )
    .order_by(OPEN.c.id)
    .limit(FORGOTTEN_PER_QUERY)
)
FORGOTTEN_REGRADINGS = (
    select(
        OUTCOMES.c.regrade_id,
        OUTCOMES.c.submission_id,
        SUBMISSIONS.c.bytes,
        _has_own_metric(OUTCOMES),
    )
    .join(REGRADES, REGRADES.c.id == OUTCOMES.c.regrade_id)
    .join(SUBMISSIONS, SUBMISSIONS.c.id == OUTCOMES.c.submission_id)
    .where(
        REGRADES.c.state == "running",
        OUTCOMES.c.state == "queued",
        ~select(JOBS.c.id)
        .where(
            IS_ALIVE,
            JOBS.c.task_name == REGRADE_TASK,
            text(
                f"procrastinate_jobs.args->>'{ARGUMENT}' = regrade_outcome.submission_id "
                f"AND procrastinate_jobs.args->>'{REGRADE_ARGUMENT}' = regrade_outcome.regrade_id"
            ),
        )
        .exists(),
    )
    .order_by(OUTCOMES.c.regrade_id, OUTCOMES.c.submission_id)
    .limit(FORGOTTEN_PER_QUERY)
)


def defer(
    session: Session,
    submissions: Iterable[tuple[str, int, int]],
    own_metric: Collection[str] = (),
) -> None:
    """Queue the grading of submissions in this session's transaction.

    Each is given by its id, its bytes, and the number of files of its run before it. Those of
    competitions with a metric.py are in `own_metric` too.
    """
    _defer(
        session,
        [
            (
                _queue_of(submission, size, own_metric),
                TASK,
                {ARGUMENT: submission},
                max(LEAST_PRIORITY, -behind),
            )
            for submission, size, behind in submissions
        ],
    )


def defer_regradings(
    session: Session,
    regrade: str,
    submissions: Iterable[tuple[str, int]],
    own_metric: Collection[str] = (),
) -> None:
    """Queue the regrading of submissions, given by id and bytes, after all live submissions.

    Those that a metric.py will grade are in `own_metric` too.
    """
    _defer(
        session,
        [
            (
                _queue_of(submission, size, own_metric),
                REGRADE_TASK,
                {ARGUMENT: submission, REGRADE_ARGUMENT: regrade},
                REGRADE_PRIORITY,
            )
            for submission, size in submissions
        ],
    )


def _queue_of(submission: str, size: int, own_metric: Collection[str]) -> str:
    return queue_of(size, has_own_metric=submission in own_metric)


def _defer(session: Session, wanted: Sequence[tuple[str, str, Mapping[str, str], int]]) -> None:
    """Queue jobs, each by its queue, task, arguments and priority."""
    if not wanted:
        return
    # Imported here, because only a server that queues needs the library, which loads a driver.
    from procrastinate import SyncPsycopgConnector
    from procrastinate.exceptions import ConnectorException
    from procrastinate.jobs import Job
    from procrastinate.manager import JobManager

    jobs = [
        Job(
            queue=queue, lock=None, queueing_lock=None, priority=priority,
            task_name=task, task_kwargs={**arguments},
        )
        for queue, task, arguments, priority in wanted
    ]  # fmt: skip
    connection = session.connection().connection.driver_connection
    manager = JobManager(SyncPsycopgConnector())  # never opened: the call passes a connection
    try:
        manager.batch_defer_jobs(jobs, connection=connection)
    except ConnectorException as error:
        # The writer recognizes an outage by the driver's own error.
        raise error.__cause__ or error from None


def living(session: Session, jobs: Collection[int]) -> set[int]:
    """The jobs among `jobs` that are waiting or running."""
    if not jobs:
        return set()
    query = select(JOBS.c.id).where(JOBS.c.id.in_(sorted(jobs)), IS_ALIVE)
    return set(session.execute(query).scalars())


def count_consumers(session: Session, heartbeat: float) -> int:
    """The number of consumers with recent heartbeats, by the database's clock.

    A worker for both small and larger submissions is two consumers. `heartbeat` is the seconds
    between two heartbeats.
    """
    return int(
        session.execute(COUNT_WORKERS, {"silence": MISSED_HEARTBEATS * heartbeat}).scalar_one()
    )


def defer_forgotten(session: Session) -> int:
    """Queue open submissions that have no job, at most `FORGOTTEN_PER_QUERY`. Returns their number.

    A server without the queue stored them, or their job was lost. Not the queue but the row of the
    submission, or of a regrade's outcome, decides what is graded. Does nothing while another
    process does the same.
    """
    if not session.execute(select(func.pg_try_advisory_xact_lock(FORGOTTEN_LOCK))).scalar_one():
        return 0
    rows = session.execute(FORGOTTEN).all()
    found = [(row.id, row.bytes, row.behind) for row in rows]
    defer(session, found, {row.id for row in rows if row.has_own_metric})
    by_regrade: dict[str, list[Row[Any]]] = {}
    for row in session.execute(FORGOTTEN_REGRADINGS):
        by_regrade.setdefault(row.regrade_id, []).append(row)
    for regrade, of_regrade in by_regrade.items():
        regradings = [(row.submission_id, row.bytes) for row in of_regrade]
        own_metric = {row.submission_id for row in of_regrade if row.has_own_metric}
        defer_regradings(session, regrade, regradings, own_metric)
    return len(found) + sum(len(each) for each in by_regrade.values())
