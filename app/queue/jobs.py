"""Jobs put into the queue: in the transaction that stores what is to be graded, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from procrastinate import SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from procrastinate.manager import JobManager
from sqlalchemy import column, func, select, table, text
from sqlalchemy.orm import Session

from app.queue.maintenance import MISSED_HEARTBEATS
from app.queue.sizes import queue_of

TASK = "grade"
ARGUMENT = "submission"
LOCK = 0x706F6469756E  # one process at a time looks for forgotten submissions
LOOK = 5000  # forgotten submissions found at one look

JOBS = table("procrastinate_jobs", column("id"), column("status"), column("args"))
SUBMISSIONS = table("submission", column("id"), column("state"), column("bytes"))
HEARD_OF = text(
    "SELECT count(*) FROM procrastinate_workers "
    "WHERE last_heartbeat > now() - make_interval(secs => :silence)"
)
IS_ALIVE = text("procrastinate_jobs.status IN ('todo', 'doing')")
FORGOTTEN = (
    select(SUBMISSIONS.c.id, SUBMISSIONS.c.bytes)
    .where(
        SUBMISSIONS.c.state.in_(["queued", "grading"]),
        ~select(JOBS.c.id)
        .where(IS_ALIVE, text(f"procrastinate_jobs.args->>'{ARGUMENT}' = submission.id"))
        .exists(),
    )
    .order_by(SUBMISSIONS.c.id)
    .limit(LOOK)
)
# It only ever uses connections that are given to it, so it is never opened.
_jobs = JobManager(SyncPsycopgConnector())


def defer(session: Session, submissions: Iterable[tuple[str, int]]) -> None:
    """Queue the grading of submissions, given by id and bytes, in this session's transaction."""
    jobs = [
        Job(
            queue=queue_of(size), lock=None, queueing_lock=None,
            task_name=TASK, task_kwargs={ARGUMENT: submission},
        )
        for submission, size in submissions
    ]  # fmt: skip
    if not jobs:
        return
    connection = session.connection().connection.driver_connection
    try:
        _jobs.batch_defer_jobs(jobs, connection=connection)
    except ConnectorException as error:
        # The driver's own error says whether the database is away, and the writer knows it.
        raise error.__cause__ or error from None


def living(session: Session, jobs: Collection[int]) -> set[int]:
    """Which of these jobs wait or are at work."""
    if not jobs:
        return set()
    query = select(JOBS.c.id).where(JOBS.c.id.in_(sorted(jobs)), IS_ALIVE)
    return set(session.execute(query).scalars())


def count_consumers(session: Session, heartbeat: float) -> int:
    """How many consumers were heard of lately, by the database's clock.

    A worker that serves small submissions beside larger ones consumes in two places. `heartbeat`
    is the seconds between two signs of life of one.
    """
    return int(session.execute(HEARD_OF, {"silence": MISSED_HEARTBEATS * heartbeat}).scalar_one())


def defer_forgotten(session: Session) -> int:
    """Queue open submissions that no job stands for; says how many, at most `LOOK` at a time.

    They were stored by a server that grades for itself, or their job was lost: the submission's
    row is the truth, the queue only its messenger. Does nothing while another process looks.
    """
    if not session.execute(select(func.pg_try_advisory_xact_lock(LOCK))).scalar_one():
        return 0
    found = [(row.id, row.bytes) for row in session.execute(FORGOTTEN)]
    defer(session, found)
    return len(found)
