"""Checkpoints that somebody else signed than the Podium whose log it is: they show nothing."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.receipts import ed25519, merkle
from app.receipts.allowed_signers import Signer, allowed_signers, read_allowed_signers
from app.receipts.check import Trust, check_consistency, check_inclusion
from app.receipts.checkpoints import DASH, Checkpoint, signed_checkpoint, verifier_key
from app.receipts.errors import BadProof
from app.receipts.statements import Facts, ReceiptKind, statement
from app.services.public_log.append import leaf_text

OWN_KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
OWN, OTHER = "podium.example", "colleague@example.org"
AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
FACTS: dict[str, Any] = {"experiment": {"name": "an-experiment"}, "plan": {}}
RECEIPT = statement(
    Facts(ReceiptKind.FREEZE, (("suite", "ab" * 32),), FACTS),
    receipt_id="rcp_1", signer=OWN, version="podium 1", at=AT, nonce="00", supersedes=None,
)  # fmt: skip
LEAF = leaf_text("receipt", RECEIPT, AT)
ROOT = merkle.leaf_hash(LEAF.encode())
SIGNER = Signer(OWN, ed25519.public_key(OWN_KEY))
OTHERS = [
    pytest.param(("git",), id="a key for commits"),
    pytest.param(("podium-receipt@v1",), id="the key of another Podium"),
    pytest.param((), id="a key for anything"),
]


def note(origin: str, name: str, private: bytes, root: bytes = ROOT) -> str:
    """A checkpoint of one entry of the log of `origin`, signed under `name`."""
    text = f"{origin}\n1\n{base64.b64encode(root).decode()}\n"
    number = bytes.fromhex(verifier_key(name, ed25519.public_key(private)).split("+")[1])
    line = base64.b64encode(number + ed25519.sign(private, text.encode())).decode()
    return f"{text}\n{DASH}{name} {line}\n"


def inclusion(checkpoint: str) -> dict[str, Any]:
    return {"index": 0, "leaf": LEAF, "proof": [], "checkpoint": checkpoint}


def trust(*signers: Signer) -> Trust:
    """These signers, as whoever checks a receipt has them in a file."""
    return Trust(read_allowed_signers(allowed_signers(signers)))


@pytest.mark.parametrize("namespaces", OTHERS)
def test_another_signer_makes_no_checkpoint_of_a_log(namespaces: tuple[str, ...]) -> None:
    other = Signer(OTHER, ed25519.public_key(OTHER_KEY), namespaces=namespaces)
    both = Trust([other, SIGNER])
    good = note(OWN, OWN, OWN_KEY)
    assert good == signed_checkpoint(Checkpoint(OWN, 1, ROOT), OWN_KEY)
    assert check_inclusion(inclusion(good), RECEIPT, both).origin == OWN
    forged = note(OWN, OTHER, OTHER_KEY)

    with pytest.raises(BadProof, match="No allowed key"):
        check_inclusion(inclusion(forged), RECEIPT, both)
    with pytest.raises(BadProof, match="No allowed key"):
        check_consistency({"from": 1, "proof": [], "checkpoint": forged}, good, both)
    with pytest.raises(BadProof, match="No allowed key"):
        check_consistency({"from": 1, "proof": [], "checkpoint": good}, forged, both)


def test_both_signatures_of_a_note_may_stand_there() -> None:
    """Witnesses sign a checkpoint too: that of its own signer counts, wherever it stands."""
    own, witness = note(OWN, OWN, OWN_KEY), note(OWN, OTHER, OTHER_KEY)
    both = (
        f"{own.partition(DASH)[0]}{DASH}{witness.partition(DASH)[2]}{DASH}{own.partition(DASH)[2]}"
    )

    assert check_inclusion(inclusion(both), RECEIPT, Trust([SIGNER])).size == 1


def test_a_key_that_may_not_sign_receipts_signs_no_checkpoint_of_that_name() -> None:
    for_commits = trust(replace(SIGNER, namespaces=("git",)))
    with pytest.raises(BadProof, match="No allowed key"):
        check_inclusion(inclusion(note(OWN, OWN, OWN_KEY)), RECEIPT, for_commits)
    assert check_inclusion(inclusion(note(OWN, OWN, OWN_KEY)), RECEIPT, trust(SIGNER)).size == 1


def test_the_log_of_another_podium_has_no_receipts_of_this_one() -> None:
    other = Signer("other.example", ed25519.public_key(OTHER_KEY))
    proof = inclusion(note("other.example", "other.example", OTHER_KEY))
    assert hashlib.sha256(RECEIPT).hexdigest() in LEAF

    with pytest.raises(BadProof, match=r"is of podium\.example, and .* log of other\.example"):
        check_inclusion(proof, RECEIPT, Trust([SIGNER, other]))
