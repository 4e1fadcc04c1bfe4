"""Amend experiments and withdraw imported results. The previous state stays readable."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import AmendmentKind
from app.errors import Invalid, NotFound
from app.services.experiments import experiments
from app.services.public_log.append import append_log_entry
from app.services.public_log.reasons import check_reason
from app.services.runtime.context import Context
from app.services.runtime.pages import cursor_number, one_more, page_of
from app.storage.queries import amendments
from app.storage.queries import experiments as stored_experiments
from app.storage.queries.amendments import AmendmentRecord
from app.storage.queries.trust import log

LOGGED_AS = {AmendmentKind.AMENDED: "amendment", AmendmentKind.WITHDRAWN: "withdrawal"}


def amend(
    context: Context,
    name: str,
    changes: dict[str, Any],
    *,
    reason: str,
    by: str | None,
) -> AmendmentRecord:
    """Change an experiment's agent, model, notes or resources; resources change one by one.

    Raises:
        NotFound: the experiment does not exist.
        Invalid: nothing would change, the reason is blank or too long, or the agent or model would
            be printed as something else.
    """
    check_reason(reason)
    for field in ("agent", "model"):
        if changes.get(field) is not None:
            experiments.refuse_misleading_text(field, changes[field])

    def record(session: Session) -> AmendmentRecord:
        log.lock(session)  # of two amendments at once, the second changes the result of the first
        known = experiments.existing(session, name)
        new = dict(changes)
        if "resources" in new:
            new["resources"] = {**(known.resources or {}), **new["resources"]}
        different = {key: value for key, value in new.items() if getattr(known, key) != value}
        if not different:
            raise Invalid("Nothing would change: give another agent, model, notes or resources.")
        amendments.change_experiment(session, name, different)
        return _add(
            context,
            session,
            AmendmentRecord(
                experiment=name,
                kind=AmendmentKind.AMENDED,
                before={key: getattr(known, key) for key in different},
                after=different,
                results=0,
                reason=reason,
                amended_by=by,
                at=datetime.now(UTC),
            ),
        )

    return context.database.write(record)


def withdraw_imports(
    context: Context,
    name: str,
    *,
    competition: str | None,
    seed: int | None,
    reason: str,
    by: str | None,
) -> AmendmentRecord:
    """Withdraw imported results: of one seed, of one competition, or all of them.

    They are not counted any more, and corrected ones can be imported in their place. The
    amendment keeps each of them as it was.

    Raises:
        NotFound: the experiment does not exist, or has no such imported result.
        Invalid: the reason is blank or too long.
    """
    check_reason(reason)

    def record(session: Session) -> AmendmentRecord:
        log.lock(session)
        stored_experiments.lock(session, name)  # results that come meanwhile are not removed
        experiments.existing(session, name)
        withdrawn = amendments.withdraw_imported(session, name, competition=competition, seed=seed)
        if not withdrawn:
            raise NotFound(f"The experiment {name!r} has no such imported result.")
        before = [
            {**asdict(each), "imported_at": each.imported_at.isoformat()} for each in withdrawn
        ]
        return _add(
            context,
            session,
            AmendmentRecord(
                experiment=name,
                kind=AmendmentKind.WITHDRAWN,
                before={"results": before},
                after=None,
                results=len(withdrawn),
                reason=reason,
                amended_by=by,
                at=datetime.now(UTC),
            ),
        )

    return context.database.write(record)


def _add(context: Context, session: Session, new: AmendmentRecord) -> AmendmentRecord:
    """Store an amendment, and its entry in the public log."""
    stored = amendments.add(session, new)
    body = asdict(stored)
    del body["kind"], body["at"]  # the entry has its own
    append_log_entry(context, session, LOGGED_AS[new.kind], {"amendment": body.pop("id"), **body})
    return stored


def history(
    context: Context, name: str, after: str | None, limit: int | None
) -> tuple[list[AmendmentRecord], str | None]:
    """A page of an experiment's amendments, oldest first, and the next cursor.

    Raises:
        NotFound: the experiment does not exist.
        Invalid: the cursor is not of this list.
    """
    experiments.find(context, name)
    number = cursor_number(after) or 0
    with context.database.read() as session:
        found = amendments.of_experiment(session, name, after=number, limit=one_more(limit))
    return page_of(found, limit, lambda one: str(one.id))
