"""Receipts as in-toto Statements v1. They are written to bytes once, and these bytes are signed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from app.receipts.errors import BadReceipt

STATEMENT = "https://in-toto.io/Statement/v1"


class ReceiptKind(StrEnum):
    """The subject of a receipt."""

    GRADE = "grade"  # how a closed run ended: its final grade, or why it has none
    EXPERIMENT = "experiment"  # all attempts of an experiment
    FREEZE = "freeze"  # the plan of an experiment, before its first run

    @property
    def predicate_type(self) -> str:
        """The type of the statement's predicate, with its version."""
        return f"urn:podium:{self.value}:v1"


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts in a receipt, before it has an id, a time and a signature.

    `subjects` are names with SHA-256 digests in hex; `body` is JSON, with scores as text.
    """

    kind: ReceiptKind
    subjects: tuple[tuple[str, str], ...]
    body: dict[str, Any]

    @property
    def digest(self) -> str:
        """The digest of the facts, because the same facts need no second receipt."""
        document = [self.kind.value, self.subjects, self.body]
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def statement(
    facts: Facts,
    *,
    receipt_id: str,
    signer: str,
    version: str,
    at: datetime,
    nonce: str,
    supersedes: str | None,
) -> bytes:
    """The bytes of a receipt.

    `nonce` is random: without it, a score could be guessed from the digest in the public log.
    """
    return to_bytes(
        {
            "_type": STATEMENT,
            "subject": [
                {"name": name, "digest": {"sha256": sha256}} for name, sha256 in facts.subjects
            ],
            "predicateType": facts.kind.predicate_type,
            "predicate": {
                "id": receipt_id,
                "verifier": {"id": signer, "version": version},
                "timeCreated": utc(at),
                "nonce": nonce,
                "supersedes": supersedes,
                **facts.body,
            },
        }
    )


def to_bytes(document: dict[str, Any]) -> bytes:
    """A document as the bytes that are signed and kept."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


def read_statement(data: bytes) -> dict[str, Any]:
    """The statement of a receipt's bytes.

    Raises:
        BadReceipt: it is not an in-toto Statement v1 with a predicate of Podium's.
    """
    types = [kind.predicate_type for kind in ReceiptKind]
    try:
        document = json.loads(data)
        if document["_type"] != STATEMENT or document["predicateType"] not in types:
            raise ValueError
        time_created(document)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise BadReceipt(
            f"The file is not a receipt: expected an in-toto Statement v1 whose predicateType is "
            f"one of {', '.join(types)}."
        ) from None
    found: dict[str, Any] = document
    return found


def time_created(document: dict[str, Any]) -> datetime:
    """The time of a statement."""
    moment = datetime.fromisoformat(document["predicate"]["timeCreated"])
    if moment.tzinfo is None:
        raise ValueError("the time has no zone")
    return moment


def score_text(score: float | None) -> str | None:
    """A score as text: the shortest digits that give the same float again.

    >>> score_text(0.1 + 0.2), score_text(None)
    ('0.30000000000000004', None)
    """
    return None if score is None else repr(score)


def utc(moment: datetime) -> str:
    """A time as text in UTC, to the microsecond."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
