"""Check a receipt, its place in the public log, and the log against an older checkpoint."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from app.domain.wording import counted
from app.receipts import dsse, ed25519, merkle, sshsig
from app.receipts.allowed_signers import Signer
from app.receipts.checkpoints import MOST_ENTRIES, Checkpoint, read_checkpoint
from app.receipts.errors import BadProof, BadReceipt
from app.receipts.statements import read_statement, time_created

BETWEEN = timedelta(hours=1)  # between a receipt and its entry: a clock may be set meanwhile


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys that may sign, and those that were revoked."""

    signers: Sequence[Signer]
    revoked: Collection[bytes] = ()


@dataclass(frozen=True, slots=True)
class CheckedReceipt:
    """A receipt with a valid signature: its bytes, its statement and the name of its signer."""

    data: bytes
    statement: dict[str, Any]
    signer: str


def check_receipt(data: bytes, signature: str | None, trust: Trust) -> CheckedReceipt:
    """Check the bytes of a receipt and their detached signature, or a DSSE envelope of both.

    Raises:
        BadReceipt: with what is wrong, and where.
    """
    sealed = dsse.read_envelope(data)
    if sealed is not None:
        payload, signatures = sealed
        message = dsse.signed_bytes(payload)
        keys = [
            signer.public
            for signer in trust.signers
            if any(ed25519.is_signed(signer.public, message, one) for one in signatures)
        ]
        if not keys:
            raise BadReceipt(
                "No allowed key signed this envelope: it was changed, or it is of another Podium."
            )
        return _checked_by_any(payload, keys, trust)
    if signature is None:
        raise BadReceipt("There is no signature: expected the file of the same name with .sig.")
    signed = sshsig.read(signature)
    if not sshsig.is_of(signed, data):
        raise BadReceipt(
            "The signature is not of this file: the receipt or its signature was changed."
        )
    return _checked(data, signed.public, signed.namespace, trust)


def _checked_by_any(data: bytes, keys: Sequence[bytes], trust: Trust) -> CheckedReceipt:
    """The receipt, by the first signer who may sign it; else the reason why the first may not."""
    refusals = []
    for public in keys:
        try:
            return _checked(data, public, sshsig.RECEIPT_NAMESPACE, trust)
        except BadReceipt as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _checked(data: bytes, public: bytes, namespace: str, trust: Trust) -> CheckedReceipt:
    if namespace != sshsig.RECEIPT_NAMESPACE:
        raise BadReceipt(
            f"The signature was made for {namespace!r}, not for {sshsig.RECEIPT_NAMESPACE!r}."
        )
    if public in trust.revoked:
        raise BadReceipt("The key that signed this receipt was revoked: nothing it signed counts.")
    own = [signer for signer in trust.signers if signer.public == public]
    if not own:
        raise BadReceipt(
            f"The key that signed this receipt is not allowed: {sshsig.public_line(public)}."
        )
    statement = read_statement(data)
    at = time_created(statement)
    for signer in own:
        if signer.may_sign_for(namespace) and signer.valid_at(at):
            return CheckedReceipt(data, statement, signer.name)
    raise BadReceipt(
        f"The key of {own[0].name} was not valid for receipts at {at.isoformat()}, the time of "
        "this one: see valid-after and valid-before of the allowed signers."
    )


def check_inclusion(proof: dict[str, Any], data: bytes, trust: Trust) -> Checkpoint:
    """Check the answer of `/v1/log/proofs/inclusion` for the bytes of a receipt.

    Raises:
        BadProof: it does not show that the log has the receipt since the time that it states.
        BadReceipt: the bytes are not a receipt.
    """
    found = read_checkpoint(_text(proof, "checkpoint"), trust.signers, trust.revoked)
    leaf, number, hashes = _text(proof, "leaf"), _number(proof, "index"), _hashes(proof)
    try:
        own = json.loads(leaf)
        named, entered = own["sha256"], datetime.fromisoformat(own["at"]).astimezone(UTC)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise BadProof("The leaf of the proof has no sha256 or no time.") from None
    if named != hashlib.sha256(data).hexdigest():
        raise BadProof(f"The entry {number} of the log is not of this receipt.")
    receipt = read_statement(data)
    if (name := _name_in(receipt)) != found.origin:
        raise BadProof(
            f"The receipt is of {name}, and the proof of the log of {found.origin}: a Podium "
            "enters its own receipts only."
        )
    created = time_created(receipt)
    if abs(entered - created) > BETWEEN:
        raise BadProof(
            f"The receipt states {created.isoformat()}, and was entered into the log at "
            f"{entered.isoformat()}: Podium does both at once, so its time was made up."
        )
    hashed = merkle.leaf_hash(leaf.encode())
    if not merkle.is_included(hashed, number, found.size, hashes, found.root):
        raise BadProof(
            f"The proof does not lead from entry {number} to the root of the checkpoint of "
            f"{_entries(found)}."
        )
    return found


def _entries(checkpoint: Checkpoint) -> str:
    return counted(checkpoint.size, "entry", "entries")


def kept_checkpoint(older: str, trust: Trust) -> Checkpoint:
    """A checkpoint that somebody kept.

    Raises:
        BadProof: no allowed key signed it.
    """
    # Its keeper knows when it was kept, so it does not matter whether the key was stolen later.
    return read_checkpoint(older, trust.signers, ())


def check_consistency(proof: dict[str, Any], older: str, trust: Trust) -> Checkpoint:
    """Check the answer of `/v1/log/proofs/consistency` against a checkpoint that was kept.

    Raises:
        BadProof: the log does not begin with what the older checkpoint had.
    """
    old = kept_checkpoint(older, trust)
    new = read_checkpoint(_text(proof, "checkpoint"), trust.signers, trust.revoked)
    if old.origin != new.origin:
        raise BadProof(f"The checkpoints are of two logs: {old.origin} and {new.origin}.")
    if new.size < old.size:
        raise BadProof(
            f"The log has {_entries(new)}, and had {old.size} before: entries were withdrawn, "
            "or an older backup was restored."
        )
    if not merkle.is_consistent(old.size, old.root, new.size, new.root, _hashes(proof)):
        raise BadProof(
            f"The log of {_entries(new)} does not begin with the {_entries(old)} of the "
            "older checkpoint: its past was changed, or an older backup was restored."
        )
    return new


def check_one_log(included: Checkpoint, others: Sequence[Checkpoint]) -> None:
    """Check that the log that has a receipt is the log of the other checkpoints.

    A signer who shows two people two logs can prove everything to each of them. Only checkpoints of
    the same size can be compared, so one of the others must have the size of this one.

    Raises:
        BadProof: they are of different logs, or none of them has this size.
    """
    for other in others:
        if other.origin != included.origin:
            raise BadProof(
                f"The checkpoints are of two logs: {included.origin} and {other.origin}."
            )
        if other.size == included.size and other.root != included.root:
            raise BadProof(
                f"The log of {_entries(included)} that has the receipt is not the one of the "
                "other checkpoint of as many entries: its signer shows two logs."
            )
    if all(other.size != included.size for other in others):
        first, largest = others[0].size, max(other.size for other in others)
        needed = (
            f"inclusion?receipt=ID&size={largest}"
            if largest > included.size
            else f"consistency?from={first}&to={included.size}"
        )
        raise BadProof(
            f"The proof of the receipt is of {_entries(included)}, and no other checkpoint is, "
            "so nothing shows that they are of one log. Name with --log the answer of "
            f"/v1/log/proofs/{needed}."
        )


def _name_in(receipt: dict[str, Any]) -> str:
    try:
        return str(receipt["predicate"]["verifier"]["id"])
    except (KeyError, TypeError):
        raise BadReceipt("The receipt does not say which Podium signed it.") from None


def _text(proof: dict[str, Any], name: str) -> str:
    if not isinstance(value := proof.get(name), str):
        raise BadProof(f"The proof has no {name}.")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can name half of a character
        raise BadProof(f"The {name} of the proof has characters that are not text.") from None
    return value


def _number(proof: dict[str, Any], name: str) -> int:
    if not isinstance(value := proof.get(name), int) or isinstance(value, bool):
        raise BadProof(f"The proof has no {name}.")
    if not 0 <= value <= MOST_ENTRIES:
        raise BadProof(f"The {name} of the proof is not the number of an entry.")
    return value


def _hashes(proof: dict[str, Any]) -> list[bytes]:
    given = proof.get("proof")
    try:
        found = [base64.b64decode(one, validate=True) for one in given or ()]
    except (TypeError, ValueError):
        found = [b""]
    if not isinstance(given, list) or any(len(one) != merkle.HASH_BYTES for one in found):
        raise BadProof("The proof has no list of SHA-256 hashes in base64.")
    return found
