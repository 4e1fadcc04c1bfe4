"""DSSE envelopes (version 1): the bytes of a receipt and their signature in one JSON document."""

from __future__ import annotations

import base64
import binascii
import json

from app.receipts import ed25519
from app.receipts.errors import BadReceipt

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MOST_SIGNATURES = 100  # each is tried with each signer, over all bytes of the payload
# JSON values take up to thirty times their bytes, and no signature has been checked yet.
MOST_VALUES = 100_000


def signed_bytes(payload: bytes) -> bytes:
    """The bytes that are signed: the type and the payload, each with its length (PAE)."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(private: bytes, payload: bytes) -> bytes:
    """The signature of a payload."""
    return ed25519.sign(private, signed_bytes(payload))


def envelope(payload: bytes, signature: bytes, key_id: str) -> bytes:
    """The envelope of a payload."""
    document = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key_id, "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(document, indent=2).encode() + b"\n"


def read_envelope(data: bytes) -> tuple[bytes, list[bytes]] | None:
    """The payload and the signatures of an envelope; None if the bytes are not an envelope.

    Raises:
        BadReceipt: it is an envelope, but not of a receipt.
    """
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        return None  # not in base64, so it is no envelope of up to MOST_SIGNATURES
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "payloadType" not in document:
        return None
    try:
        if document["payloadType"] != PAYLOAD_TYPE:
            raise ValueError
        if len(document["signatures"]) > MOST_SIGNATURES:
            raise BadReceipt(
                f"The envelope has more than {MOST_SIGNATURES} signatures. Podium signs with one."
            )
        payload = base64.b64decode(document["payload"], validate=True)
        found = [base64.b64decode(one["sig"], validate=True) for one in document["signatures"]]
    except (KeyError, TypeError, ValueError, binascii.Error):
        raise BadReceipt(f"The envelope is not one of DSSE with {PAYLOAD_TYPE} in it.") from None
    return payload, found
