"""Which bytes are the statement of a receipt, and what decides that two receipts say the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from app.receipts.errors import BadReceipt
from app.receipts.statements import (
    Facts,
    ReceiptKind,
    read_statement,
    score_text,
    statement,
    time_created,
    to_bytes,
)

FACTS = Facts(ReceiptKind.GRADE, (("submission.csv", "ab" * 32),), {"score": score_text(0.1)})
AT = datetime(2026, 3, 1, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))


def made() -> dict[str, Any]:
    data = statement(
        FACTS, receipt_id="rcpt_1", signer="urn:podium", version="1", at=AT, nonce="n",
        supersedes=None,
    )  # fmt: skip
    return read_statement(data)


def test_a_statement_is_read_as_it_was_written() -> None:
    found = made()

    assert found["predicateType"] == "urn:podium:grade:v1"
    assert found["subject"] == [{"name": "submission.csv", "digest": {"sha256": "ab" * 32}}]
    assert found["predicate"]["timeCreated"] == "2026-03-01T12:00:00.000005Z"
    assert found["predicate"]["score"] == "0.1"
    assert time_created(found) == AT.astimezone(UTC)


@pytest.mark.parametrize(
    "change",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://slsa.dev/provenance/v1"},  # signed, but no receipt of Podium's
        {"predicateType": "urn:podium:grade:v2"},
        {"predicate": {"timeCreated": "2026-03-01T12:00:00"}},  # in no time zone
        {"predicate": {"timeCreated": "noon"}},
        {"predicate": {}},
        {"predicate": None},
    ],
)
def test_another_statement_is_no_receipt(change: dict[str, Any]) -> None:
    with pytest.raises(BadReceipt, match="The file is not a receipt"):
        read_statement(json.dumps({**made(), **change}).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000])
def test_other_bytes_are_no_receipt(data: bytes) -> None:
    with pytest.raises(BadReceipt, match="The file is not a receipt"):
        read_statement(data)


def test_facts_that_differ_have_different_digests() -> None:
    assert replace(FACTS, body=dict(FACTS.body)).digest == FACTS.digest
    others = [
        replace(FACTS, kind=ReceiptKind.FREEZE),
        replace(FACTS, subjects=(("submission.csv", "cd" * 32),)),
        replace(FACTS, body={"score": None}),
    ]
    assert len({FACTS.digest, *(one.digest for one in others)}) == 4


def test_a_receipt_is_written_as_text_that_people_read_and_never_with_nan() -> None:
    assert to_bytes({"agent": "Müller"}) == '{\n  "agent": "Müller"\n}\n'.encode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_bytes({"score": float("nan")})


def test_the_digest_of_facts_is_that_of_earlier_versions() -> None:
    """Another digest would make a second receipt of the same facts."""
    facts = replace(FACTS, body={"b": 1, "agent": "Müller"})
    text = '["grade",[["submission.csv","' + "ab" * 32 + '"]],{"agent":"Müller","b":1}]'
    assert facts.digest == hashlib.sha256(text.encode()).hexdigest()
