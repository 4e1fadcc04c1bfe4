"""Start a regrade of a competition, and cancel one."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from sqlalchemy.orm import Session

from app.domain.states import CompetitionStatus, RegradeState
from app.errors import Conflict, NeedsData, NotFound, TakesNoSubmissions
from app.services.public_log.reasons import check_reason
from app.services.regrades.add_submissions import add_listed, add_submissions
from app.services.regrades.show import existing
from app.services.runtime.context import Context
from app.services.runtime.environment import this_environment
from app.storage.database.records import AddedSubmission
from app.storage.queries import competitions, runs, submissions
from app.storage.queries.ids import new_id
from app.storage.queries.operation import environments
from app.storage.queries.regrades import members, regrades
from app.storage.queries.regrades.regrades import RegradeRecord

# Regrades with equal values of these columns have the same outcomes. A regrade of another
# environment may be one that an upgrade left unfinished.
SAME = ("competition", "version_id", "submission_id", "podium_version", "environment")


class NothingToRegrade(Conflict):
    """The competition has no settled submission that could be graded anew."""


def start(
    context: Context,
    slug: str,
    *,
    version: int | None = None,
    submission: str | None = None,
    by: str | None,
) -> RegradeRecord:
    """Start to grade a competition's settled submissions again, in the present environment.

    Each is graded under the version with the number `version`, or if that is None under the version
    of its first grade. With `submission` only that one is graded, and the regrade cannot be
    applied. `by` is the id of the admin's key; None for a command on the server.

    Raises:
        NotFound: the competition, the version or the submission does not exist.
        NeedsData: the version has no answers.
        TakesNoSubmissions: the competition's results are measured.
        NothingToRegrade: there is no settled submission.
        Conflict: the same regrade is running.
    """
    with context.database.read() as session:
        current = competitions.current_version(session, slug)
        target = current if version is None else competitions.version_by_number(
            session, slug, version
        )  # fmt: skip
        found = None if submission is None else submissions.get_submission(session, submission)
        run = runs.get_run(session, found[0].run_id) if found else None
        agreed = environments.current(session) if context.settings.queues else None
    if current is None:
        raise NotFound(f"There is no competition {slug!r}.")
    if target is None:
        raise NotFound(
            f"{slug} has no version {version}. Its current version is {current.number}; "
            f"`podium import folder` makes new ones."
        )
    if submission is not None and (run is None or run.competition != slug):
        raise NotFound(f"{slug} has no submission {submission!r}.")
    if context.catalogue.declaration(target.id).is_measured:
        raise TakesNoSubmissions(f"{slug} takes no submissions, so none can be graded anew.")
    if version is not None and target.status is not CompetitionStatus.READY:
        raise NeedsData(
            f"Version {version} of {slug} has no answers: nothing can be graded under it."
        )
    environment = agreed[0] if agreed else this_environment()
    new = RegradeRecord(
        id=new_id(regrades.PREFIX),
        competition=slug,
        version_id=None if version is None else target.id,
        submission_id=submission,
        podium_version=environment.podium_version,
        environment=environment.environment,
        created_by=by,
        created_at=datetime.now(UTC),
    )

    def record(session: Session) -> list[AddedSubmission]:
        competitions.lock(session, slug)  # of two at once, the second finds the first
        for other in regrades.running(session):
            if all(getattr(other, name) == getattr(new, name) for name in SAME):
                raise Conflict(f"The regrade {other.id} of {slug} is the same, and is running.")
        regrades.add(session, new)
        return add_submissions(session, new, queues=context.settings.queues)

    added = context.database.write(record)
    if len(added) == members.FILLED_AT_ONCE:
        _add_others(context, new, added[-1].submission_id)
    if not added:
        cancel(context, new.id, reason="it has no submission", by=by)
        raise NothingToRegrade(f"No submission of {slug} is settled, so there is nothing to grade.")
    return new


def _add_others(context: Context, regrade: RegradeRecord, after: str) -> None:
    """Add the submissions after this one in parts, so that live ones can be written in between.

    A search of all submissions of the competition takes long, so it is done before the writes.
    """
    while True:
        with context.database.read() as session:
            found = members.settled_after(session, regrade, after)
        if not found:
            return
        after = found[-1].submission_id
        for first in range(0, len(found), members.FILLED_AT_ONCE):
            part = found[first : first + members.FILLED_AT_ONCE]
            add = partial(
                add_listed, regrade_id=regrade.id, listed=part, queues=context.settings.queues
            )
            context.database.write(add)


def cancel(context: Context, regrade_id: str, *, reason: str, by: str | None) -> RegradeRecord:
    """Cancel a regrade that is not applied. Its outcomes stay readable.

    Raises:
        NotFound: the regrade does not exist.
        Conflict: it is applied, or cancelled already.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)

    def record(session: Session) -> RegradeRecord:
        found = existing(session, regrade_id, locks=True)
        if found.state in (RegradeState.APPLIED, RegradeState.CANCELLED):
            raise Conflict(
                f"The regrade {regrade_id} is {found.state.value}, so it cannot be cancelled. To "
                "undo one that is applied, apply another one."
            )
        regrades.change(
            session,
            regrade_id,
            state=RegradeState.CANCELLED,
            cancelled_at=datetime.now(UTC),
            reason=reason,
            decided_by=by,
        )
        return regrades.get(session, regrade_id) or found

    return context.database.write(record)
