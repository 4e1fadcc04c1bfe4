"""Apply a regrade: from then on results use its grades. Earlier grades do not change."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.domain.states import RegradeState
from app.domain.wording import counted
from app.errors import Conflict
from app.services.public_log.append import append_log_entry
from app.services.public_log.reasons import check_reason
from app.services.regrades.add_submissions import add_submissions
from app.services.regrades.difference import summary
from app.services.regrades.show import existing
from app.services.runtime.context import Context
from app.storage.queries.regrades import members, regrades
from app.storage.queries.regrades.regrades import RegradeRecord
from app.storage.queries.trust import log


class RegradeNotReady(Conflict):
    """The regrade cannot be applied in its present state."""


class RegradeHasFaults(Conflict):
    """The regrade has faults where submissions were graded or rejected before.

    A fault is Podium's or the competition's, so it must not take a result away from anybody. Mend
    what caused it, and start another regrade.
    """


def apply(context: Context, regrade_id: str, *, reason: str, by: str | None) -> RegradeRecord:
    """Let results use the grades of a regrade that is ready. `by` is the id of the admin's key.

    Raises:
        NotFound: the regrade does not exist.
        RegradeNotReady: it is not ready, is for one submission only, or submissions were settled
            since: these are then graded first.
        RegradeHasFaults: it failed where there was a result before.
        Conflict: another regrade was applied at the same time.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)
    with context.database.read() as session:
        found = existing(session, regrade_id)
        before = regrades.in_force_at(session, found.competition)
    _refuse(found)
    if _takes_more(context, found):
        raise RegradeNotReady(
            f"Submissions to {found.competition} were settled since {found.id} became ready. They "
            "are graded now; apply it when it is ready again."
        )
    difference = summary(context, found)
    failed = difference["submissions"]["newly_failed"]
    if failed:
        raise RegradeHasFaults(
            f"{counted(failed, 'submission')} of {found.competition} had a result before and "
            f"failed in {found.id}. The faults are among its changes. Remove their causes, and "
            "start another regrade.",
            failed=failed,
        )

    def record(session: Session) -> RegradeRecord:
        log.lock(session)  # of two at once, the second finds the first; there may be no row to lock
        own = regrades.get(session, regrade_id, locks=True) or found
        _refuse(own)
        if own.ready_at != found.ready_at:  # it ran again, so nobody has looked at its new outcomes
            raise RegradeNotReady(
                f"{own.id} graded more submissions meanwhile: look at what it changes now, and "
                "apply it again."
            )
        if members.count_missing(session, own):  # the difference says nothing about these
            raise RegradeNotReady(
                f"Submissions to {own.competition} were settled meanwhile: apply {own.id} again, "
                "and they are graded first."
            )
        last = regrades.in_force_at(session, own.competition, locks=True)
        if (last.id if last else None) != (before.id if before else None):
            raise Conflict(
                f"Another regrade of {own.competition} was applied meanwhile: look at what "
                f"{own.id} changes now, and apply it again."
            )
        body = {"regrade": own.id, "competition": own.competition, "reason": reason, "by": by}
        # The entry's time is later than that of every receipt, even if the clock was set back, so
        # earlier receipts are known to be superseded.
        at = append_log_entry(context, session, "regrade", body).at
        if last is not None:
            regrades.change(session, last.id, superseded_at=at)
        regrades.change(
            session,
            regrade_id,
            state=RegradeState.APPLIED,
            applied_at=at,
            reason=reason,
            decided_by=by,
            replaces=last.id if last else None,
            summary=difference,
        )
        return regrades.get(session, regrade_id) or own

    return context.database.write(record)


def _refuse(found: RegradeRecord) -> None:
    if found.submission_id is not None:
        raise RegradeNotReady(
            f"The regrade {found.id} covers one submission only and cannot be applied. "
            "Regrade the whole competition to apply it."
        )
    if found.state is not RegradeState.READY:
        raise RegradeNotReady(
            f"The regrade {found.id} is {found.state.value}; one that is ready can be applied."
        )


def _takes_more(context: Context, found: RegradeRecord) -> bool:
    """Whether submissions were settled since; then they are added, and the regrade runs again."""

    def record(session: Session) -> bool:
        own = regrades.get(session, found.id, locks=True)
        if own is None or own.state is not RegradeState.READY:
            return False
        if not members.count_missing(session, own):
            return False
        regrades.change(session, own.id, state=RegradeState.RUNNING, ready_at=None)
        # Only a part of them, so that no other write waits for all: `finish` adds the others.
        add_submissions(session, own, queues=context.settings.queues)
        return True

    return context.database.write(record)
