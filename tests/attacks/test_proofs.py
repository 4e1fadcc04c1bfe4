"""Proofs that show nothing: forged, forked, cut or not well formed. None is taken, in words."""

from __future__ import annotations

import base64
import json
import subprocess
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli.receipts.check import LARGEST_OTHER
from app.receipts import dsse, ed25519, merkle, sshsig
from app.receipts.allowed_signers import Signer, allowed_signers, read_allowed_signers, read_revoked
from app.receipts.check import (
    Trust,
    check_consistency,
    check_inclusion,
    check_receipt,
    kept_checkpoint,
)
from app.receipts.checkpoints import (
    LARGEST_NOTE,
    MOST_SIGNATURES,
    Checkpoint,
    signed_checkpoint,
)
from app.receipts.errors import BadProof, BadReceipt
from app.receipts.statements import Facts, ReceiptKind, statement
from app.services.public_log.append import leaf_text
from tests.forkserver import run_podium

PRIVATE = bytes(range(32))
NAME = "podium.example"
AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
SIGNER = Signer(NAME, ed25519.public_key(PRIVATE), AT - timedelta(hours=1))
TRUST = Trust([SIGNER])
FACTS: dict[str, Any] = {"experiment": {"name": "an-experiment"}, "plan": {}}
RECEIPT = statement(
    Facts(ReceiptKind.FREEZE, (("suite", "ab" * 32),), FACTS),
    receipt_id="rcp_1", signer=NAME, version="podium 1", at=AT, nonce="00", supersedes=None,
)  # fmt: skip
OWN = leaf_text("receipt", RECEIPT, AT)
OTHERS = [leaf_text("receipt", str(number).encode(), AT) for number in range(8)]


class Log:
    """A log with these leaves, as its signer shows it."""

    def __init__(self, leaves: list[str]) -> None:
        self.leaves = leaves
        self._hashes = [merkle.leaf_hash(leaf.encode()) for leaf in leaves]

    def node(self, level: int, place: int) -> bytes:
        if level == 0:
            return self._hashes[place]
        left, right = (self.node(level - 1, 2 * place + side) for side in (0, 1))
        return merkle.node_hash(left, right)

    def checkpoint(self, size: int) -> str:
        root = merkle.root(self.node, size)
        return signed_checkpoint(Checkpoint(NAME, size, root), PRIVATE)

    def inclusion(self, index: int, size: int) -> dict[str, Any]:
        proof = merkle.inclusion_proof(self.node, index, size)
        return {
            "index": index, "leaf": self.leaves[index], "proof": encoded(proof),
            "checkpoint": self.checkpoint(size),
        }  # fmt: skip

    def consistency(self, start: int, size: int) -> dict[str, Any]:
        proof = merkle.consistency_proof(self.node, start, size)
        return {"from": start, "proof": encoded(proof), "checkpoint": self.checkpoint(size)}


WITH, WITHOUT = Log([*OTHERS[:3], OWN, *OTHERS[4:]]), Log(OTHERS)


def encoded(hashes: list[bytes]) -> list[str]:
    return [base64.b64encode(one).decode() for one in hashes]


HALF = "\ud800"  # json reads it, and no file has it
SIGNATURE = WITH.checkpoint(8).splitlines()[-1]


@pytest.mark.parametrize(
    "change",
    [
        {"leaf": json.dumps({**json.loads(OWN), "x": HALF}, ensure_ascii=False)},
        {"checkpoint": WITH.checkpoint(8).replace("\n8\n", f"\n8{HALF}\n")},
        {"checkpoint": WITH.checkpoint(8).replace(SIGNATURE, f"— {NAME} ü")},
        {"checkpoint": WITH.checkpoint(8).replace(SIGNATURE, "")}, {"checkpoint": ""},
        {"leaf": "[" * 100_000}, {"leaf": "[]"}, {"leaf": "{}"}, {"leaf": 1}, {"leaf": None},
        {"index": 2}, {"index": -1}, {"index": 8}, {"index": 10**30}, {"index": 3.0},
        {"index": True}, {"index": "3"}, {"index": None}, {"index": "\x1b[2J"},
        {"proof": []}, {"proof": ""}, {"proof": {}}, {"proof": None}, {"proof": ["ü"]},
        {"proof": WITH.inclusion(3, 8)["proof"][:-1]}, {"proof": WITH.inclusion(3, 8)["proof"] * 2},
        {"proof": WITH.inclusion(3, 8)["proof"][::-1]},
        {"proof": [base64.b64encode(bytes(31)).decode()] * 3},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_a_proof_that_shows_nothing_is_refused_in_words(change: dict[str, Any]) -> None:
    good = WITH.inclusion(3, 8)
    assert check_inclusion(good, RECEIPT, TRUST).size == 8

    with pytest.raises(BadProof) as refused:
        check_inclusion({**good, **change}, RECEIPT, TRUST)

    assert "\x1b" not in refused.value.detail


def test_a_good_proof_of_another_entry_shows_nothing_of_a_receipt() -> None:
    other = statement(
        Facts(ReceiptKind.FREEZE, (("suite", "ab" * 32),), {**FACTS, "plan": {"seeds": [1]}}),
        receipt_id="rcp_1", signer=NAME, version="podium 1", at=AT, nonce="00", supersedes=None,
    )  # fmt: skip

    with pytest.raises(BadProof, match="The entry 2 of the log is not of this receipt"):
        check_inclusion(WITH.inclusion(2, 8), RECEIPT, TRUST)  # entered at the same time
    with pytest.raises(BadProof, match="The entry 3 of the log is not of this receipt"):
        check_inclusion(WITH.inclusion(3, 8), other, TRUST)


def test_a_log_of_one_entry_and_of_none() -> None:
    one = Log([OWN])
    assert check_inclusion(one.inclusion(0, 1), RECEIPT, TRUST).size == 1
    empty = signed_checkpoint(Checkpoint(NAME, 0, merkle.EMPTY_ROOT), PRIVATE)
    with pytest.raises(BadProof):
        check_inclusion({**one.inclusion(0, 1), "checkpoint": empty}, RECEIPT, TRUST)
    grown = {"proof": [], "checkpoint": one.checkpoint(1)}
    assert check_consistency(grown, empty, TRUST).size == 1
    for proof in (["AAAA"], WITH.inclusion(3, 8)["proof"], ""):
        with pytest.raises(BadProof):
            check_consistency({**grown, "proof": proof}, empty, TRUST)


def test_a_node_of_the_tree_is_no_leaf() -> None:
    """Two hashes under a node, taken for a leaf: a second preimage, were it not for prefixes."""
    node = merkle.leaf_hash(OTHERS[2].encode()) + merkle.leaf_hash(OWN.encode())
    root = merkle.root(WITH.node, 8)
    path = merkle.inclusion_proof(WITH.node, 3, 8)[1:]

    assert not merkle.is_included(merkle.leaf_hash(node), 1, 4, path, root)
    assert merkle.is_included(merkle.node_hash(node[:32], node[32:]), 1, 4, path, root)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A receipt that is good, and what its signer gives to whoever checks it."""
    (tmp_path / "receipt.json").write_bytes(RECEIPT)
    signature = sshsig.sign(PRIVATE, RECEIPT, sshsig.RECEIPT_NAMESPACE)
    (tmp_path / "receipt.json.sig").write_text(signature)
    (tmp_path / "allowed_signers").write_text(allowed_signers([SIGNER]))
    for name, proof in (
        ("inclusion", WITH.inclusion(3, 8)), ("inclusion-7", WITH.inclusion(3, 7)),
        ("consistency", WITH.consistency(5, 8)), ("fork", WITHOUT.consistency(5, 8)),
    ):  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(proof))
    (tmp_path / "kept").write_text(WITH.checkpoint(5))
    (tmp_path / "kept-7").write_text(WITH.checkpoint(7))
    (tmp_path / "kept-fork").write_text(WITHOUT.checkpoint(5))
    (tmp_path / "kept-fork-7").write_text(WITHOUT.checkpoint(7))
    envelope = dsse.envelope(RECEIPT, dsse.sign(PRIVATE, RECEIPT), "sig_1")
    (tmp_path / "envelope.json").write_bytes(envelope)
    (tmp_path / "receipt.pub").write_text('an-admin namespaces="x" ssh-ed25519 AAAA\n')
    return tmp_path


def verify(files: Path, words: str) -> subprocess.CompletedProcess[str]:
    given = [
        word if word.startswith("-") or word.isdigit() else str(files / word)
        for word in f"{words} --allowed-signers allowed_signers".split()
    ]
    return run_podium(
        ["verify", *given],
        env={"PATH": "/usr/bin", "COLUMNS": "200", "PODIUM_DATA_DIR": str(files / "data")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("receipt.json --log inclusion.json", "in the log: entry 3 of 8"),
        ("envelope.json --log inclusion.json", "in the log: entry 3 of 8"),
        ("receipt.json --log inclusion.json --log consistency.json --checkpoint kept",
         "begins with those of"),
        ("receipt.json --log inclusion-7.json --checkpoint kept-7", "log: that of"),
        ("--log consistency.json --checkpoint kept", "8 entries"),
    ],
)  # fmt: skip
def test_what_is_shown_is_said(files: Path, words: str, said: str) -> None:
    done = verify(files, words)

    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        # The receipt is in a log that its signer shows to one, and not in that of the checkpoint.
        ("receipt.json --log inclusion.json --log fork.json --checkpoint kept-fork", "two logs"),
        ("receipt.json --log inclusion-7.json --checkpoint kept-fork-7", "two logs"),
        ("receipt.json --log inclusion-7.json --log fork.json --checkpoint kept-fork",
         "/v1/log/proofs/inclusion?receipt=ID&size=8"),
        # The answer about the receipt was replaced by another answer.
        ("receipt.json --log consistency.json --checkpoint kept", "about the receipt"),
        ("receipt.json --log inclusion.json --checkpoint kept",
         "/v1/log/proofs/consistency?from=5&to=8"),
        ("receipt.json --checkpoint kept", "--log FILE"),
        ("--checkpoint kept", "podium verify --log FILE"),
        ("receipt.json --sample 3", "for the Podium here, without RECEIPT"),
        ("receipt.json --resume", "for the Podium here, without RECEIPT"),
        ("receipt.json --revoked receipt.pub", "not a public key"),
        ("receipt.json --revoked receipt.json", "not a public key"),
    ],
)  # fmt: skip
def test_what_is_not_shown_is_refused(files: Path, words: str, said: str) -> None:
    done = verify(files, words)

    assert done.returncode in (1, 2), done.stdout
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_signed_file_that_is_no_receipt_is_refused_in_words(files: Path) -> None:
    document = json.loads(RECEIPT)
    document["predicateType"] = ReceiptKind.GRADE.predicate_type
    data = json.dumps(document).encode()
    (files / "receipt.json").write_bytes(data)
    signature = sshsig.sign(PRIVATE, data, sshsig.RECEIPT_NAMESPACE)
    (files / "receipt.json.sig").write_text(signature)

    done = verify(files, "receipt.json")

    assert done.returncode == 1
    assert "lacks what a receipt of Podium says" in " ".join(done.stderr.split())


def test_keys_of_files_are_those_that_openssh_reads() -> None:
    line = sshsig.public_line(SIGNER.public)
    assert read_revoked(f"# stolen\n\n{line} sig_1\nssh-rsa AAAA\n") == {SIGNER.public}
    for text in ("garbage\n", "ssh-ed25519\n", f"{NAME} {line}\n", f"{line} a\n{{}}\n"):
        with pytest.raises(BadReceipt):
            read_revoked(text)
    assert read_allowed_signers(f"# no longer:\x0b{NAME} {line}\n# or\x85{NAME} {line}\n") == []


@pytest.mark.parametrize("off", [timedelta(days=300), -timedelta(hours=2), timedelta(minutes=61)])
def test_a_backdated_receipt_is_not_taken_with_the_time_of_its_entry(off: timedelta) -> None:
    honest = Log([leaf_text("receipt", RECEIPT, AT + timedelta(seconds=5))])
    assert check_inclusion(honest.inclusion(0, 1), RECEIPT, TRUST).size == 1

    backdated = Log([leaf_text("receipt", RECEIPT, AT + off)])
    with pytest.raises(BadProof, match="entered into the log at"):
        check_inclusion(backdated.inclusion(0, 1), RECEIPT, TRUST)


@pytest.mark.parametrize("words", ["envelope.json", "--log consistency.json --checkpoint kept"])
def test_a_signature_that_would_not_be_read_is_refused(files: Path, words: str) -> None:
    done = verify(files, f"{words} --signature receipt.json.sig")

    assert done.returncode == 2
    assert "Leave out --signature" in " ".join(done.stderr.replace("│", " ").split())


def test_signatures_that_would_take_hours_to_try_are_not_tried() -> None:
    """Each is tried over the whole text: 400,000 of them over 10 MB took an hour and more."""
    document = json.loads(dsse.envelope(RECEIPT, dsse.sign(PRIVATE, RECEIPT), "sig_1"))
    document["signatures"] *= dsse.MOST_SIGNATURES + 1
    note = WITH.checkpoint(8) + f"{SIGNATURE}\n" * MOST_SIGNATURES

    with pytest.raises(BadReceipt, match="more than 100 signatures"):
        check_receipt(json.dumps(document).encode(), None, TRUST)
    with pytest.raises(BadProof, match="100 signatures"):
        kept_checkpoint(note, TRUST)
    with pytest.raises(BadProof, match="1,000,000 characters"):
        kept_checkpoint(f"{NAME}\n{'x' * LARGEST_NOTE}\n\n{SIGNATURE}\n", TRUST)


def test_a_file_of_very_many_values_is_not_parsed_before_its_signature_is_checked() -> None:
    """A file of 99 MB took 2.5 GB and 19 seconds to be told that it has no signature."""
    data = b"[" + b"[]," * 1_000_000 + b"[]]"
    tracemalloc.start()
    try:
        with pytest.raises(BadReceipt, match="There is no signature"):
            check_receipt(data, None, TRUST)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < len(data)


def test_a_word_of_many_authorities_is_read_once() -> None:
    key = sshsig.public_line(SIGNER.public)
    for number in (2, 4_000):  # 4,000 took 10 seconds, and 8,000 four times as long
        started = time.process_time()
        with pytest.raises(BadReceipt, match="cannot be read"):
            read_allowed_signers(f"{NAME} {'cert-authority' * number} {key}\n")
        assert time.process_time() - started < 2


@pytest.mark.parametrize("name", ["receipt.json.sig", "inclusion.json", "kept", "allowed_signers"])
def test_files_that_would_take_much_memory_are_refused(files: Path, name: str) -> None:
    with (files / name).open("a") as file:
        file.write("\n" * LARGEST_OTHER)

    done = verify(
        files, "receipt.json --log inclusion.json --log consistency.json --checkpoint kept"
    )

    assert done.returncode == 1
    assert f"is larger than {LARGEST_OTHER} bytes" in " ".join(done.stderr.split())
