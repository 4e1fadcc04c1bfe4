"""Compare rows that may change (signing keys, ends of runs) with what log and receipts say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.services.public_log.append import KEY_ENTRY
from app.storage.queries import results
from app.storage.queries.regrades.regrades import in_force_at
from app.storage.queries.trust import log, receipts
from app.storage.queries.trust.receipts import ReceiptRecord
from app.storage.queries.trust.signing_keys import SigningKeyRecord

GRADED = SubmissionState.GRADED.value


def check_keys(session: Session, keys: Mapping[str, SigningKeyRecord]) -> Iterator[tuple[str, str]]:
    """What is wrong with the rows of signing keys: the log has each act on one."""
    unknown = set(keys)
    for number in log.numbers_of(session, KEY_ENTRY):
        entry = log.entry(session, number)
        try:
            about = json.loads((entry and entry.record) or "")
            key_id, act = str(about["key"]), about["act"]
        except (KeyError, TypeError, ValueError):
            continue  # the check of the log names it
        name, key = f"signing key {key_id}", keys.get(key_id)
        if act == "made":
            unknown.discard(key_id)
        if key is None:
            yield name, "its row was removed"
        elif act == "made" and about.get("public_key") != key.public_key:
            yield name, "its public key was changed"
        elif act == "retired" and key.valid_before is None:
            yield name, "it was retired, and its row does not say so: the row was changed"
        elif act == "revoked" and (key.revoked_at is None or key.reason != about.get("reason")):
            yield name, "it was revoked, and its row does not say so: the row was changed"
    for key_id in sorted(unknown):
        yield f"signing key {key_id}", "the log has no entry that it was made: the row was added"


def final_problems(session: Session, receipt: ReceiptRecord) -> Iterator[str]:
    """Whether the run of a receipt still ends as was signed, if this is its last receipt."""
    if receipt.run_id is None:
        return
    last = receipts.last_of_run(session, receipt.run_id)
    if last is None or last.id != receipt.id:
        return
    found = next(results.run_results(session, run=receipt.run_id), None)
    if found is None:
        yield f"its run {receipt.run_id} is missing"
        return
    regrade = in_force_at(session, found.competition)
    if regrade is not None and (regrade.applied_at or receipt.created_at) >= receipt.created_at:
        return  # the receipt of the regraded run comes within seconds
    predicate = json.loads(receipt.statement)["predicate"]
    stated = predicate["submission"]["id"] if predicate["outcome"] == GRADED else None
    graded = found.final if found.final_state is SubmissionState.GRADED else None
    if stated != graded:
        yield (
            f"its run {receipt.run_id} ends with {_submission(graded)}, and {_submission(stated)} "
            "was signed: rows of submissions, or the choice of the run, were changed"
        )


def _submission(graded: str | None) -> str:
    return "no graded submission" if graded is None else f"the graded submission {graded}"
