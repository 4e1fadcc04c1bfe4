"""Check the receipts and the log in the database, and name what was changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy.orm import Session

from app.domain.wording import counted
from app.receipts import dsse, ed25519, merkle
from app.receipts.check import Trust, check_receipt
from app.receipts.checkpoints import read_checkpoint
from app.receipts.errors import BadProof, BadReceipt
from app.receipts.statements import ReceiptKind, score_text, utc
from app.services.public_log.append import RECEIPT_ENTRY
from app.services.public_log.signers import signer_of
from app.services.receipts.check_acts import check_acts, check_keys
from app.services.receipts.check_runs import final_problems
from app.storage.database.records import GradeRecord
from app.storage.queries import competitions, grades, submissions
from app.storage.queries.regrades import outcomes
from app.storage.queries.regrades.outcomes import OutcomeRecord
from app.storage.queries.trust import log, receipts, signing_keys
from app.storage.queries.trust.log import CheckpointRecord, LogEntryRecord
from app.storage.queries.trust.receipts import ReceiptRecord
from app.storage.queries.trust.signing_keys import SigningKeyRecord

Finding = tuple[str, str]  # what is damaged, and how


def check_trust(session: Session) -> Iterator[Finding]:
    """Everything that is wrong with the log, the receipts, and the grades that they state."""
    keys = {key.id: key for key in signing_keys.all_keys(session)}
    yield from _check_log(session, keys)
    yield from check_keys(session, keys)
    yield from check_acts(session)
    # Before the receipts are read: servers may issue more meanwhile.
    missing = set(log.numbers_of(session, RECEIPT_ENTRY))
    for receipt in receipts.all_receipts(session):
        missing.discard(receipt.number)
        name = f"receipt {receipt.id}"
        problem = _receipt_problem(session, receipt, keys)
        if problem is not None:
            yield name, problem
        elif receipt.kind is ReceiptKind.GRADE:
            yield from ((name, each) for each in _grade_problems(session, receipt))
            yield from ((name, each) for each in final_problems(session, receipt))
    for number in sorted(missing):
        yield f"log entry {number}", "its receipt is missing: the row was removed"


class _Edge:
    """The right edge of the tree: the last complete subtree of each level, as computed here."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[int, bytes]] = {}

    def node(self, level: int, place: int) -> bytes:
        """The hash of a subtree at the edge."""
        known, value = self._last[level]
        if known != place:
            raise KeyError((level, place))
        return value

    def add(self, number: int, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf. Yields the subtrees that it completes."""
        found = merkle.nodes_of_leaf(self.node, number, leaf)
        self._last.update({level: (place, value) for level, place, value in found})
        return found


def _check_log(session: Session, keys: dict[str, SigningKeyRecord]) -> Iterator[Finding]:
    edge, stored, expected = _Edge(), log.node_reader(session), 0
    checkpoints = log.all_checkpoints(session)
    for entry in log.all_entries(session):
        name = f"log entry {entry.number}"
        if entry.number != expected:
            yield f"log entry {expected}", "the entry is missing, so nothing after it is checked"
            return
        expected += 1
        problem = _entry_problem(entry)
        if problem is not None:
            yield name, problem
        for level, place, value in edge.add(entry.number, merkle.leaf_hash(entry.leaf.encode())):
            if not _has(stored, level, place, value):
                yield name, f"its leaf, or the hash of level {level}, place {place}, was changed"
        root = merkle.root(edge.node, expected)
        problem = _checkpoint_problem(next(checkpoints, None), expected, root, keys)
        if problem is not None:
            yield f"checkpoint of {expected} entries", problem
    if (more := next(checkpoints, None)) is not None:
        entries = counted(more.size, "entry", "entries")
        yield f"log entry {expected}", f"the entry is missing: a checkpoint has {entries}"


def _has(stored: merkle.Node, level: int, place: int, value: bytes) -> bool:
    try:
        return stored(level, place) == value
    except (LookupError, ValueError):
        return False


def _entry_problem(entry: LogEntryRecord) -> str | None:
    try:
        leaf: dict[str, Any] = json.loads(entry.leaf)
        kind, sha256, at = leaf["kind"], leaf["sha256"], leaf["at"]
    except (KeyError, TypeError, ValueError):
        return "its leaf cannot be read: it was changed"
    if (kind, at) != (entry.kind, utc(entry.at)):
        return "its kind or time is not that of its leaf: it was changed"
    if entry.record is not None and hashlib.sha256(entry.record.encode()).hexdigest() != sha256:
        return "its record is not the one that its leaf has the digest of: it was changed"
    return None


def _checkpoint_problem(
    found: CheckpointRecord | None, size: int, root: bytes, keys: dict[str, SigningKeyRecord]
) -> str | None:
    if found is None or found.size != size:
        return "it is missing"
    try:
        signers = [signer_of(keys[found.key_id])] if found.key_id in keys else []
        signed = read_checkpoint(found.note, signers, ())
    except BadProof as error:
        return error.detail
    if (signed.size, signed.root) != (size, root):
        return "it has another root: an entry up to here was changed with its hashes"
    return None


def _receipt_problem(
    session: Session, receipt: ReceiptRecord, keys: dict[str, SigningKeyRecord]
) -> str | None:
    if receipt.key_id not in keys:
        return f"its signing key {receipt.key_id} is missing"
    key = keys[receipt.key_id]
    try:
        checked = check_receipt(receipt.data, receipt.signature, Trust([signer_of(key)]))
    except BadReceipt as error:
        return error.detail
    message = dsse.signed_bytes(receipt.data)
    try:
        envelope = bytes.fromhex(receipt.envelope_signature)
    except ValueError:
        envelope = b""
    if not ed25519.is_signed(key.public, message, envelope):
        return "the signature of its envelope was changed"
    predicate = checked.statement["predicate"]
    stated = (predicate["id"], checked.statement["predicateType"], predicate["supersedes"])
    if stated != (receipt.id, receipt.kind.predicate_type, receipt.supersedes):
        return "its id, kind or predecessor is not what it states: the row was changed"
    entry = log.entry(session, receipt.number)
    digest = hashlib.sha256(receipt.data).hexdigest()
    if entry is None or f'"sha256":"{digest}"' not in entry.leaf:
        return f"the log's entry {receipt.number} is not of this receipt"
    return None


def _grade_problems(session: Session, receipt: ReceiptRecord) -> Iterator[str]:
    """Differences between the receipt and the rows of its submission and grade."""
    statement = json.loads(receipt.statement)
    predicate = statement["predicate"]
    stated = predicate["submission"]
    if stated is None:
        return
    found = submissions.get_submission(session, stated["id"])
    if found is None:
        yield f"its submission {stated['id']} is missing"
        return
    digest = statement["subject"][0]["digest"]["sha256"]
    if found[0].sha256 != digest:
        yield f"the submission {stated['id']} has another file: its row was changed"
    if predicate["score"] is None:
        return
    own = _signed_grades(session, stated["id"], predicate)
    if not own:
        yield f"the grade of submission {stated['id']} is missing"
    for grade in own:
        different = _differences(predicate, grade)
        if different:
            yield (
                f"the grade of submission {stated['id']} has another {', '.join(different)} than "
                "was signed: its row was changed"
            )


def _signed_grades(
    session: Session, submission_id: str, predicate: dict[str, Any]
) -> list[GradeRecord | OutcomeRecord]:
    """The rows of the grade that a receipt states: from a regrade, or under the stated version."""
    if "regrade" in predicate:
        given = outcomes.given_by(session, predicate["regrade"], submission_id)
        return [] if given is None else [given[2]]
    return [
        grade
        for grade in grades.grades_of(session, submission_id)
        if _version_of(session, grade) == predicate["competition"]["version"]
    ]


def _version_of(session: Session, grade: GradeRecord) -> int | None:
    version = competitions.version_by_id(session, grade.version_id)
    return None if version is None else version.number


def _differences(predicate: dict[str, Any], grade: GradeRecord | OutcomeRecord) -> list[str]:
    standing = predicate["standing"]
    pairs = {
        "score": (predicate["score"], score_text(grade.score)),
        "public_score": (predicate["public_score"], score_text(grade.public_score)),
        "grader": (predicate["grader"], grade.grader),
        "graded_at": (predicate["graded"], utc(grade.graded_at)),
        **{name: (stated, getattr(grade, name)) for name, stated in standing.items()},
    }
    return [name for name, (stated, found) in pairs.items() if stated != found]
