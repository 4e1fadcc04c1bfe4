"""Enter the numbers and failures that a key was shown in the exposure ledger."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from operator import itemgetter

from sqlalchemy.orm import Session

from app.domain.feedback import Feedback, is_shown
from app.errors import QuotaExceeded, TooManyFailures
from app.services.auth import Caller, authenticate, own_run
from app.services.runtime.context import Context
from app.storage.database.records import HARNESS, GradeRecord, RunRecord
from app.storage.queries import exposure, failures

SUBMISSION_LIMITS = ("submissions_per_day", "submissions_total")


def record_disclosures(
    context: Context,
    run: RunRecord,
    policy: Feedback,
    grades: Sequence[GradeRecord],
    failed: Sequence[str],
    prefix: str,
    *,
    is_first: bool,
) -> None:
    """Record each number and each failure the first time that it is disclosed.

    Returns when it is committed. A repeat discloses nothing new. `failed` are the submissions whose
    state is shown as failed: the failures among them are those that the file can have caused.
    `prefix` begins the kinds of disclosures to a harness. With `is_first` the ledger is not queried
    for the numbers that it has.
    """
    entries = [
        (prefix + kind, grade)
        for grade in grades
        for kind, is_visible in (
            ("search_score", policy.shows_search_score and grade.search_score is not None),
            ("public_score", policy.shows_public_score and grade.public_score is not None),
            ("private_score", policy.shows_everything),
        )
        if is_visible
    ]
    if not entries and not failed:
        return
    known: set[tuple[str, int]] = set()
    new_failures: list[str] = []
    if failed or not is_first:
        with context.database.read() as session:
            known = exposure.disclosed_among(
                session,
                {kind for kind, _ in entries},
                {grade.id for _, grade in entries if grade.id is not None},
            )
            new_failures = _new_failures(session, failed, prefix + exposure.FAILURE)
    new = [
        (kind, grade.submission_id, grade.id)
        for kind, grade in entries
        if (kind, grade.id) not in known
    ]
    new += [(prefix + exposure.FAILURE, submission_id, None) for submission_id in new_failures]
    if not new:
        return
    # All servers write in the order of the submissions, so that there is no deadlock.
    new.sort(key=itemgetter(1))

    def record(session: Session) -> None:
        at = exposure.moment(session, run.id)
        for kind, submission_id, grade_id in new:
            exposure.record(session, run.id, kind, submission_id, grade_id, at)

    context.database.write(record)


def record_counted_failures(context: Context, caller: Caller, run: RunRecord) -> None:
    """Record the failures of a run before a key is shown a number that counts them.

    The number of submissions that are left, or a refusal because of failures, reveals them even if
    the key, of the run or of a harness, never asks for the submissions. Such a number does not
    count submissions whose outcome is not shown yet. For readers of results nothing is recorded.
    """
    if caller.reads_results or not run.feedback.shows_state:
        return
    now = datetime.now(UTC)
    step = context.settings.outcome_step_seconds if run.feedback.hides_time else 0.0
    with context.database.read() as session:
        found = failures.of_run(session, run.id)
    shown = [one for one, received, settled in found if is_shown(received, settled, now, step)]
    prefix = HARNESS if caller.is_harness else ""
    record_disclosures(context, run, run.feedback, [], shown, prefix, is_first=False)


def has_limits_of_submissions(run: RunRecord) -> bool:
    """Whether only so many submissions of the run are stored, in a day or in all.

    Failed files do not count, so each answer to a file, stored or refused, then reveals failures.
    """
    return any(run.limits.get(name) is not None for name in SUBMISSION_LIMITS)


def record_revealed_failures(
    context: Context, caller: Caller, run: RunRecord, refusal: QuotaExceeded | None = None
) -> None:
    """Record the failures that the answer to a file reveals; `refusal` if it is refused."""
    if isinstance(refusal, TooManyFailures) or has_limits_of_submissions(run):
        record_counted_failures(context, caller, run)


def record_refusal(context: Context, key: str | None, run_id: str, refusal: QuotaExceeded) -> None:
    """Record the failures that a refusal of a file sent with this key reveals."""
    with context.database.read() as session:
        caller = authenticate(session, key)
        run = own_run(session, caller, run_id)
    record_revealed_failures(context, caller, run, refusal)


def _new_failures(session: Session, failed: Sequence[str], kind: str) -> list[str]:
    if not failed:
        return []
    known = exposure.failures_disclosed(session, failed, kind)
    return sorted(failures.among(session, set(failed) - known))
