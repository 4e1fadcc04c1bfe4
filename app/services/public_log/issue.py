"""Issue receipts. If the facts are those of the last receipt, that receipt is returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.grading_version import grading_version
from app.receipts import dsse, sshsig
from app.receipts.statements import Facts, ReceiptKind, statement
from app.services.public_log.append import RECEIPT_ENTRY, add_entry, locked_key, new_nonce
from app.services.runtime.context import Context
from app.storage.queries.ids import new_id
from app.storage.queries.trust import log, receipts, signing_keys
from app.storage.queries.trust.receipts import ReceiptRecord


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of receipts: a run, or an experiment if `run_id` is None."""

    kind: ReceiptKind
    experiment: str
    run_id: str | None = None

    def last(self, session: Session) -> ReceiptRecord | None:
        """Its latest receipt."""
        if self.run_id is not None:
            return receipts.last_of_run(session, self.run_id)
        return receipts.last_of_experiment(session, self.experiment, self.kind)


Read = Callable[[Session], tuple[Facts, str | None]]  # the facts, and the id of a submission


def issue_present(
    context: Context,
    about: Subject,
    read: Read,
    change: Callable[[Session], None] = lambda session: None,
) -> tuple[ReceiptRecord, bool]:
    """Sign the facts that `read` returns. Returns the receipt, and whether it is new.

    `change` is called in the transaction of the receipt. It changes rows to what `read` returned.

    If another receipt was issued while the facts were read, or a regrade or another act of an admin
    was entered into the log, they are read again. So a receipt never states facts that are older
    than the receipt that it supersedes, or than an act that is entered before it.
    """
    while True:
        with context.database.read() as session:
            size = log.size(session)  # read first: entries after this one are searched for below
            seen = about.last(session)
            facts, submission_id = read(session)

        def sign(
            session: Session, *, size: int = size, seen: ReceiptRecord | None = seen,
            facts: Facts = facts, submission_id: str | None = submission_id,
        ) -> tuple[ReceiptRecord, bool] | None:  # fmt: skip
            log.lock(session)
            last = about.last(session)
            if last is not None and (seen is None or seen.id != last.id):
                return None
            if log.has_others(session, RECEIPT_ENTRY, start=size):
                return None
            change(session)
            return issue(context, session, facts, about, submission_id)

        signed = context.database.write(sign)
        if signed is not None:
            return signed


def issue(
    context: Context,
    session: Session,
    facts: Facts,
    about: Subject,
    submission_id: str | None = None,
) -> tuple[ReceiptRecord, bool]:
    """Sign facts, in a write. Returns the receipt, and whether it is new."""
    key = locked_key(context, session)
    last = about.last(session)
    if last is not None and last.facts == facts.digest and not _is_revoked(session, last):
        return last, False
    receipt_id, at = new_id("rcp"), key.moment()
    data = statement(
        facts,
        receipt_id=receipt_id,
        signer=key.record.name,
        version=f"podium {grading_version()}",
        at=at,
        nonce=new_nonce(),
        supersedes=None if last is None else last.id,
    )
    entry = add_entry(session, key, RECEIPT_ENTRY, data, record=None)
    new = ReceiptRecord(
        id=receipt_id,
        kind=facts.kind,
        experiment=about.experiment,
        run_id=about.run_id,
        submission_id=submission_id,
        facts=facts.digest,
        statement=data.decode(),
        signature=sshsig.sign(key.private, data, sshsig.RECEIPT_NAMESPACE),
        envelope_signature=dsse.sign(key.private, data).hex(),
        key_id=key.record.id,
        number=entry.number,
        supersedes=None if last is None else last.id,
        created_at=at,
    )
    receipts.add(session, new)
    return new, True


def _is_revoked(session: Session, receipt: ReceiptRecord) -> bool:
    key = signing_keys.get(session, receipt.key_id)
    return key is None or key.revoked_at is not None


def last_freeze(session: Session, experiment: str) -> ReceiptRecord | None:
    """The receipt of an experiment's freeze."""
    return receipts.last_of_experiment(session, experiment, ReceiptKind.FREEZE)
