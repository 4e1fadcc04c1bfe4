"""Envelopes and checkpoints that do not belong together, and receipts without a signature."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from app.receipts import dsse
from app.receipts.allowed_signers import Signer
from app.receipts.check import Trust, check_one_log, check_receipt
from app.receipts.checkpoints import Checkpoint
from app.receipts.dsse import envelope, read_envelope
from app.receipts.errors import BadProof, BadReceipt

GOOD = json.loads(envelope(b"{}", bytes(64), "sig_1"))
HERE = Checkpoint("podium.example", 8, bytes(32))


def test_an_envelope_is_read_back() -> None:
    assert read_envelope(json.dumps(GOOD).encode()) == (b"{}", [bytes(64)])
    assert GOOD["signatures"][0]["keyid"] == "sig_1"
    many = {**GOOD, "signatures": GOOD["signatures"] * dsse.MOST_SIGNATURES}
    assert read_envelope(json.dumps(many).encode()) == (b"{}", [bytes(64)] * dsse.MOST_SIGNATURES)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'["payloadType"]', b'"payloadType"', b"\xff"])
def test_other_bytes_are_no_envelope(data: bytes) -> None:
    assert read_envelope(data) is None


@pytest.mark.parametrize(
    "change",
    [
        {"payloadType": "text/plain"}, {"payloadType": None},
        {"payload": "e30!="}, {"payload": None}, {"signatures": None}, {"signatures": [{}]},
        {"signatures": [{"sig": "A!AA"}]}, {"signatures": ["AAAA"]},
    ],
)  # fmt: skip
def test_an_envelope_of_something_else_is_refused(change: dict) -> None:
    with pytest.raises(BadReceipt, match="not one of DSSE"):
        read_envelope(json.dumps({**GOOD, **change}).encode())


def test_a_receipt_needs_a_signature() -> None:
    with pytest.raises(BadReceipt, match=r"There is no signature: .* with \.sig"):
        check_receipt(b"{}", None, Trust([]))


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Checkpoint("other.example", 8, bytes(32)), "of two logs: podium.example and other"),
        (Checkpoint("podium.example", 8, b"\x01" * 32), "its signer shows two logs"),
        (Checkpoint("podium.example", 9, bytes(32)), "inclusion\\?receipt=ID&size=9"),
        (Checkpoint("podium.example", 7, bytes(32)), "consistency\\?from=7&to=8"),
    ],
)
def test_a_receipt_is_in_the_log_of_the_other_checkpoints_or_nothing_shows_it(
    other: Checkpoint, reason: str
) -> None:
    check_one_log(HERE, [HERE])
    with pytest.raises(BadProof, match=reason):
        check_one_log(HERE, [other])
    if other.origin == HERE.origin and other.size != HERE.size:
        check_one_log(HERE, [other, HERE])


def test_a_key_signs_from_its_first_moment_until_before_its_last() -> None:
    first = datetime(2026, 3, 1, tzinfo=UTC)
    last, moment = first + timedelta(days=1), timedelta(microseconds=1)
    key = Signer("podium.example", bytes(32), first, last)
    assert [key.valid_at(at) for at in (first - moment, first, last - moment, last)] == [
        False, True, True, False,
    ]  # fmt: skip
