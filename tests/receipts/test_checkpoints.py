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


@pytest.mark.parametrize(
    "rest", ["017\n{root}\n", "-1\n{root}\n", f"{2**63}\n{{root}}\n", "17\n{short}\n", "17\n"]
)
def test_signed_text_that_is_not_a_checkpoint_is_refused(rest):
    roots = {name: base64.b64encode(bytes(n)).decode() for name, n in (("root", 32), ("short", 31))}
    with pytest.raises(BadProof, match="not a checkpoint of origin, size, root"):
        read_checkpoint(signed(f"{OWN.name}\n{rest.format(**roots)}"), [OWN], ())


def signed(text):
    """The note of any text with the signature of OWN, in a line as a checkpoint has it."""
    number = bytes.fromhex(verifier_key(OWN.name, OWN.public).split("+")[1])
    line = base64.b64encode(number + ed25519.sign(PRIVATE, text.encode())).decode()
    return f"{text}\n— {OWN.name} {line}\n"


def test_a_signature_has_the_hash_of_its_key_and_nothing_but_base64():
    note = signed_checkpoint(Checkpoint("podium.example", 17, bytes(32)), PRIVATE)
    assert note == signed(note.partition("\n\n")[0] + "\n")
    start, _, line = note.rpartition(" ")
    raw = base64.b64decode(line)
    other_hash = base64.b64encode(bytes(4) + raw[4:]).decode()
    for changed in (f"{other_hash}\n", f"{line[:9]}!{line[9:]}"):
        with pytest.raises(BadProof, match="No allowed key"):
            read_checkpoint(f"{start} {changed}", [OWN], ())


@pytest.mark.parametrize("signers", [[], [Signer("other.example", OWN.public)]])
def test_an_unknown_signer_is_refused(signers):
    note = signed_checkpoint(Checkpoint("podium.example", 1, bytes(32)), PRIVATE)
    with pytest.raises(BadProof, match="No allowed key"):
        read_checkpoint(note, signers, ())
    with pytest.raises(BadProof, match="No allowed key"):
        read_checkpoint(note, [OWN], [OWN.public])
