"""Check the form of a file for a run, without storing the file or reading the answers."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from sqlalchemy.orm import Session

from app.domain.verdict import Verdict
from app.domain.wording import counted
from app.errors import GradingFault, QuotaExceeded, Unavailable
from app.graders.messages.results import GraderFault
from app.graders.version_folder import VersionFolder
from app.services.auth import Caller
from app.services.login import require_valid
from app.services.runtime.context import Context
from app.services.runtime.run_limits import DAY
from app.services.submissions.validation_counts import count_on, has_validations
from app.storage.database.records import HARNESS, RunRecord
from app.storage.queries import exposure


def refuse_beyond_bound(context: Context, caller: Caller, run: RunRecord) -> None:
    """Refuse a file before its bytes are read, if the run has used up its validations.

    Each is a permanent entry of the exposure ledger, and no limit of submissions counts them. Those
    of harnesses are counted separately, because the run's key must not learn of them.

    Raises:
        QuotaExceeded: PODIUM_RUN_VALIDATIONS files were checked.
    """
    with context.database.read() as session:
        count_on(context, session, run.id, _kind(caller))
        _refuse_beyond_bound(context, session, caller, run)


def _refuse_beyond_bound(
    context: Context, session: Session, caller: Caller, run: RunRecord
) -> None:
    most = context.settings.run_validations
    if not has_validations(context, session, run.id, _kind(caller), most):
        return
    raise QuotaExceeded(
        f"{counted(most, 'file')} of run {run.id} were checked (PODIUM_RUN_VALIDATIONS), and no "
        "more can be: waiting does not renew this limit. Submit the file: invalid ones use up no "
        "submission where the run's policy shows whether a file is valid.",
        retry_after=int(DAY.total_seconds()),
    )


def start(context: Context, run: RunRecord, file: Path) -> Future[Verdict | GraderFault]:
    """Check the file against the schema and the public ids, in a process without answers.

    Runs take turns, and one file of a run is checked at a time.
    """
    return context.validations.add(run.id, lambda: _start(context, run, file))


def _start(context: Context, run: RunRecord, file: Path) -> Future[Verdict | GraderFault]:
    version = context.catalogue.version(run.version_id)
    lease = context.catalogue.files.lease(version, answers=False)
    try:
        future = context.graders.validate(VersionFolder(run.competition, lease.path), file)
    except BaseException:
        lease.close()
        raise
    future.add_done_callback(lambda _: lease.close())
    return future


def finish(
    context: Context, caller: Caller, run: RunRecord, found: Verdict | GraderFault
) -> Verdict:
    """Return the verdict. If a run's or harness's key asked, record it in the ledger first.

    Raises:
        Unauthorized, RunArchived: the key ended while the file was checked.
        Unavailable: the check took longer than it may.
        GradingFault: the checking process failed.
        QuotaExceeded: the last validation was used up by another file meanwhile.
    """
    require_valid(context, caller.key_id)
    if isinstance(found, GraderFault):
        if found.kind == "timeout":
            limit = context.settings.validation_seconds
            raise Unavailable(
                f"The file was not checked within {limit:g} seconds "
                "(PODIUM_VALIDATION_SECONDS); try again, or submit it."
            )
        raise GradingFault("The file could not be checked; try again.")
    if not caller.reads_results:

        def record(session: Session) -> None:
            # Files that were sent together all passed the first check: now those recorded before
            # count.
            _refuse_beyond_bound(context, session, caller, run)
            exposure.record(
                session, run.id, _kind(caller),
                submission_id=None, grade_id=None, at=exposure.moment(session, run.id),
            )  # fmt: skip

        context.database.write(record)
    return found


def _kind(caller: Caller) -> str:
    return HARNESS + exposure.VALIDATION if caller.is_harness else exposure.VALIDATION
