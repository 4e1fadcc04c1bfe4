"""Signed notes: the example of the Go module that defined them, and checkpoints of our own."""

from __future__ import annotations

import base64

import pytest

from app.receipts import ed25519
from app.receipts.allowed_signers import Signer
from app.receipts.checkpoints import (
    Checkpoint,
    read_checkpoint,
    signed_checkpoint,
    signed_text,
    verifier_key,
)
from app.receipts.errors import BadProof

# From the documentation of golang.org/x/mod/sumdb/note.
KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpR"
    "Zb6KE6RyyBwJnAM=\n"
)
PRIVATE = bytes(range(32))
OWN = Signer("podium.example", ed25519.public_key(PRIVATE))


def test_the_example_of_go_is_read():
    name, _, rest = KEY.partition("+")
    public = base64.b64decode(rest.partition("+")[2])[1:]

    assert verifier_key(name, public) == KEY
    text = signed_text(NOTE, [Signer(name, public)], ())
    assert text == NOTE.partition("\n\n")[0] + "\n"
    with pytest.raises(BadProof):
        signed_text(NOTE.replace("answer", "Answer"), [Signer(name, public)], ())


def test_a_checkpoint_is_read_back():
    checkpoint = Checkpoint("podium.example", 17, bytes(32))

    note = signed_checkpoint(checkpoint, PRIVATE)

    assert note.startswith(f"podium.example\n17\n{'A' * 43}=\n\n— podium.example ")
    assert read_checkpoint(note, [OWN], ()) == checkpoint


def test_each_changed_byte_of_a_checkpoint_is_found():
    note = signed_checkpoint(Checkpoint("podium.example", 17, bytes(32)), PRIVATE)
    text = note.partition("\n\n")[0].encode()
    for place in range(len(text)):
        changed = bytearray(note.encode())
        changed[place] ^= 1
        with pytest.raises(BadProof):
            read_checkpoint(changed.decode(errors="replace"), [OWN], ())


@pytest.mark.parametrize("signers", [[], [Signer("other.example", OWN.public)]])
def test_an_unknown_signer_is_refused(signers):
    note = signed_checkpoint(Checkpoint("podium.example", 1, bytes(32)), PRIVATE)
    with pytest.raises(BadProof, match="No allowed key"):
        read_checkpoint(note, signers, ())
    with pytest.raises(BadProof, match="No allowed key"):
        read_checkpoint(note, [OWN], [OWN.public])
