"""Detached signatures as `ssh-keygen -Y sign` makes them: OpenSSH's PROTOCOL.sshsig, version 1.

A signature contains a namespace, so that one made for another purpose is not valid for a receipt.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass

from app.receipts import ed25519
from app.receipts.errors import BadReceipt

MAGIC, VERSION = b"SSHSIG", 1
KEY_TYPE = b"ssh-ed25519"
HASH = b"sha512"
FIRST, LAST = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
LINE = 70
RECEIPT_NAMESPACE = "podium-receipt@v1"


@dataclass(frozen=True, slots=True)
class SshSignature:
    """A detached signature: the raw public key, the namespace, and the raw signature."""

    public: bytes
    namespace: str
    signature: bytes


def public_line(public: bytes) -> str:
    """A public key in OpenSSH's form: its type, and base64."""
    return f"{KEY_TYPE.decode()} {base64.b64encode(_public_blob(public)).decode()}"


def read_public(text: str) -> bytes:
    """The raw key of a base64 text that `public_line` wrote.

    Raises:
        BadReceipt: it is not an Ed25519 key.
    """
    try:
        key_type, key = _Fields(base64.b64decode(text, validate=True)).all(2)
        if key_type == KEY_TYPE and len(key) == ed25519.KEY_BYTES:
            return key
    except (ValueError, struct.error):
        pass
    raise BadReceipt(f"{text[:40]!r} is not the key of an ssh-ed25519 line.")


def sign(private: bytes, message: bytes, namespace: str) -> str:
    """The armored signature of a message."""
    public = _string(_public_blob(ed25519.public_key(private)))
    raw = ed25519.sign(private, _signed_data(message, namespace))
    signature = _string(_string(KEY_TYPE) + _string(raw))
    purpose = _string(namespace.encode()) + _string(b"") + _string(HASH)
    blob = MAGIC + struct.pack(">I", VERSION) + public + purpose + signature
    text = base64.b64encode(blob).decode()
    lines = [text[start : start + LINE] for start in range(0, len(text), LINE)]
    return "\n".join([FIRST, *lines, LAST, ""])


def read(armored: str) -> SshSignature:
    """The parts of an armored signature.

    Raises:
        BadReceipt: it is not one, or not by an Ed25519 key over SHA-512.
    """
    lines = armored.strip().split("\n")
    try:
        if (lines[0].strip(), lines[-1].strip()) != (FIRST, LAST):
            raise ValueError
        blob = base64.b64decode("".join(line.strip() for line in lines[1:-1]), validate=True)
        if not blob.startswith(MAGIC) or blob[6:10] != struct.pack(">I", VERSION):
            raise ValueError
        fields = _Fields(blob[10:])
        key, namespace, _reserved, algorithm, signed = fields.all(5)
        key_type, public = _Fields(key).all(2)
        signature_type, signature = _Fields(signed).all(2)
        if (key_type, signature_type, algorithm) != (KEY_TYPE, KEY_TYPE, HASH):
            raise ValueError
        return SshSignature(public, namespace.decode(), signature)
    except (ValueError, struct.error, binascii.Error):
        raise BadReceipt(
            "The signature is not one that ssh-keygen -Y sign makes with an Ed25519 key: it begins "
            f"with {FIRST}, and is the file of the receipt's name with .sig at its end."
        ) from None


def is_of(signature: SshSignature, message: bytes) -> bool:
    """Whether the signature is of this message."""
    data = _signed_data(message, signature.namespace)
    return ed25519.is_signed(signature.public, data, signature.signature)


def _signed_data(message: bytes, namespace: str) -> bytes:
    digest = hashlib.sha512(message).digest()
    parts = (namespace.encode(), b"", HASH, digest)
    return MAGIC + b"".join(map(_string, parts))


def _public_blob(public: bytes) -> bytes:
    return _string(KEY_TYPE) + _string(public)


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


class _Fields:
    """Reads the strings of SSH's wire format (RFC 4251) one after another."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def all(self, number: int) -> list[bytes]:
        """This number of strings, after which the data must end."""
        found = [self._next() for _ in range(number)]
        if self._data:
            raise ValueError("something follows the last string")
        return found

    def _next(self) -> bytes:
        (length,) = struct.unpack(">I", self._data[:4])
        value, self._data = self._data[4 : 4 + length], self._data[4 + length :]
        if len(value) != length:
            raise ValueError("the data ends too soon")
        return value
