"""Issue a receipt: the same facts as in the last one give that one again."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.grading_version import grading_version
from app.receipts import dsse, sshsig
from app.receipts.statements import Facts, ReceiptKind, statement
from app.services.public_log.append import RECEIPT_ENTRY, add_entry, locked_key, new_nonce
from app.services.runtime.context import Context
from app.storage.queries.ids import new_id
from app.storage.queries.trust import receipts, signing_keys
from app.storage.queries.trust.receipts import ReceiptRecord


def issue(
    context: Context,
    session: Session,
    facts: Facts,
    *,
    experiment: str,
    run_id: str | None = None,
    submission_id: str | None = None,
) -> tuple[ReceiptRecord, bool]:
    """Sign facts, in a write; also whether the receipt is new."""
    key = locked_key(context, session)
    last = (
        receipts.last_of_experiment(session, experiment, facts.kind)
        if run_id is None
        else receipts.last_of_run(session, run_id)
    )
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
        experiment=experiment,
        run_id=run_id,
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
