"""Check a file's form for a run, without storing it and without any answers in reach."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.orm import Session

from app.domain.verdict import Verdict
from app.errors import GradingFault
from app.graders.results import GraderFault
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from app.storage.queries import exposure


def start(context: Context, run: RunRecord, file: Path) -> Future[Verdict | GraderFault]:
    """Let the checking process read the file against the schema and the public ids."""
    version = context.catalogue.version(run.version_id)
    lease = context.catalogue.files.lease(version, answers=False)
    try:
        future = context.graders.validate(lease.path, file)
    except BaseException:
        lease.close()
        raise
    future.add_done_callback(lambda _: lease.close())
    return future


def finish(
    context: Context, caller: Caller, run: RunRecord, found: Verdict | GraderFault
) -> Verdict:
    """The verdict, once the ledger has it (a run's own validation is a disclosure).

    Raises:
        GradingFault: the checking process broke down.
    """
    if isinstance(found, GraderFault):
        raise GradingFault("The file could not be checked; try again.")
    if caller.is_run:

        def record(session: Session) -> None:
            exposure.record(
                session, run.id, "validation",
                submission_id=None, grade_id=None, at=datetime.now(UTC),
            )  # fmt: skip

        context.database.write(record)
    return found
