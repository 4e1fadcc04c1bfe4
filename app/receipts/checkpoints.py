"""Checkpoints of the log: C2SP's tlog-checkpoint in a C2SP signed note, signed by Ed25519."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from app.receipts import ed25519
from app.receipts.allowed_signers import Signer
from app.receipts.errors import BadProof
from app.receipts.sshsig import RECEIPT_NAMESPACE

ALGORITHM = b"\x01"  # Ed25519, in the list of the signed note
DASH = "— "  # the beginning of a signature's line
MOST_ENTRIES = 2**63 - 1
# As in the Go library for signed notes. Each line may take one verification of the complete text.
LARGEST_NOTE, MOST_SIGNATURES = 1_000_000, 100


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a log: its name, the number of its entries, and their root."""

    origin: str
    size: int
    root: bytes


def signed_checkpoint(checkpoint: Checkpoint, private: bytes) -> str:
    """The signed note of a checkpoint. The signer has the name of the log."""
    root = base64.b64encode(checkpoint.root).decode()
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{root}\n"
    signature = ed25519.sign(private, text.encode())
    number = _key_hash(checkpoint.origin, ed25519.public_key(private))
    line = base64.b64encode(number + signature).decode()
    return f"{text}\n{DASH}{checkpoint.origin} {line}\n"


def read_checkpoint(note: str, signers: Iterable[Signer], revoked: Iterable[bytes]) -> Checkpoint:
    """The checkpoint of a signed note, if the signer after whom its log is named signed it.

    Other signers in the same file do not count, such as those of another Podium, or people whose
    keys do not sign receipts.

    Raises:
        BadProof: the note is not well formed, or no allowed key of the log signed it.
    """
    origin = note.partition("\n")[0]
    own = [each for each in signers if each.name == origin and each.may_sign_for(RECEIPT_NAMESPACE)]
    text = signed_text(note, own, revoked)
    try:
        origin, size, root, *_ = text.split("\n")
        found = Checkpoint(origin, int(size), base64.b64decode(root, validate=True))
        if str(found.size) != size or not 0 <= found.size <= MOST_ENTRIES or len(found.root) != 32:
            raise ValueError
    except ValueError:
        raise BadProof("The signed text is not a checkpoint of origin, size, root.") from None
    return found


def signed_text(note: str, signers: Iterable[Signer], revoked: Iterable[bytes]) -> str:
    """The text of a signed note, if one of the signers signed it.

    Raises:
        BadProof: no allowed key signed it.
    """
    start, _, signatures = note.rpartition("\n\n")
    text = f"{start}\n"
    refused, lines = set(revoked), signatures.splitlines()
    if len(note) > LARGEST_NOTE or len(lines) > MOST_SIGNATURES:
        raise BadProof(
            f"The checkpoint has more than {LARGEST_NOTE:,} characters or {MOST_SIGNATURES} "
            "signatures: it is not one of Podium."
        )
    for signer in signers:
        for line in lines:
            if signer.public not in refused and _is_signature(line, signer, text):
                return text
    raise BadProof(
        "No allowed key signed this checkpoint: it was changed, or it is of another Podium."
    )


def verifier_key(name: str, public: bytes) -> str:
    """A public key for verifiers of signed notes: name, hash and key joined by plus signs."""
    key = base64.b64encode(ALGORITHM + public).decode()
    return f"{name}+{_key_hash(name, public).hex()}+{key}"


def _is_signature(line: str, signer: Signer, text: str) -> bool:
    """Whether the line of a note is this signer's signature of the text."""
    if not line.startswith(f"{DASH}{signer.name} "):
        return False
    try:
        raw = base64.b64decode(line.removeprefix(f"{DASH}{signer.name} "), validate=True)
    except ValueError:  # not base64, or not even ASCII
        return False
    number, signature = raw[:4], raw[4:]
    is_key = number == _key_hash(signer.name, signer.public)
    return is_key and ed25519.is_signed(signer.public, text.encode(), signature)


def _key_hash(name: str, public: bytes) -> bytes:
    return hashlib.sha256(f"{name}\n".encode() + ALGORITHM + public).digest()[:4]
