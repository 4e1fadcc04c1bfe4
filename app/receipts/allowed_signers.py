"""OpenSSH's file of allowed signers: which keys may sign what, from when until when.

The form is that of `ssh-keygen(1)`, section ALLOWED SIGNERS; times are in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.receipts.errors import BadReceipt
from app.receipts.sshsig import RECEIPT_NAMESPACE, public_line, read_public

KEY_TYPE = re.compile(r"(?:ssh|sk-ssh|ecdsa|sk-ecdsa)-[a-z0-9@.-]+")
TIME = "%Y%m%d%H%M%SZ"
OPTION = re.compile(r'([a-z-]+)="([^"]*)"')
OPTIONS_KNOWN = frozenset({"namespaces", "valid-after", "valid-before"})
AUTHORITY = re.compile(r"(?:^|,)cert-authority(?:,|$)", re.IGNORECASE)
OPTIONS = r'(?:((?:[a-z-]+="[^"]*",?|cert-authority(?![a-z-]),?)+)\s+)?'
LINE = re.compile(rf"(\S+)\s+{OPTIONS}({KEY_TYPE.pattern})\s+(\S+)(?:\s.*)?")


@dataclass(frozen=True, slots=True)
class Signer:
    """A key that may sign receipts under a name, from `after` until `before` (None: no end)."""

    name: str
    public: bytes
    after: datetime | None = None
    before: datetime | None = None
    namespaces: tuple[str, ...] = (RECEIPT_NAMESPACE,)

    def may_sign_for(self, namespace: str) -> bool:
        """Whether the key is one of those that sign for this namespace."""
        return not self.namespaces or namespace in self.namespaces

    def valid_at(self, moment: datetime) -> bool:
        """Whether the key may sign at this moment."""
        after, before = self.after, self.before
        return (after is None or after <= moment) and (before is None or moment < before)


def allowed_signers(signers: Iterable[Signer]) -> str:
    """The file of these signers, a line for each."""
    return "".join(f"{_line(signer)}\n" for signer in signers)


def read_allowed_signers(text: str) -> list[Signer]:
    """The signers of a file, without keys of other types and certificate authorities.

    Raises:
        BadReceipt: a line with an Ed25519 key cannot be read.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):  # as in OpenSSH, nothing else ends one
        if "ssh-ed25519" not in line or line.lstrip().startswith("#"):
            continue
        match = LINE.fullmatch(line.strip())
        if match is not None and (match[3] != "ssh-ed25519" or AUTHORITY.search(match[2] or "")):
            continue
        options = OPTION.findall(match[2] or "") if match else []
        given = dict(options)
        # With a repeated option it is not clear which applies, and an unknown one may forbid
        # things.
        if match is None or len(given) < len(options) or not given.keys() <= OPTIONS_KNOWN:
            raise BadReceipt(f"Line {number} of the allowed signers cannot be read: {line[:80]!r}.")
        name, _, _, key = match.groups()
        # An empty list allows nothing, a missing one everything.
        names = tuple(given["namespaces"].split(",")) if "namespaces" in given else ()
        after, before = (_time(given.get(f"valid-{end}"), number) for end in ("after", "before"))
        found.append(Signer(name, read_public(key), after, before, names))
    return found


def read_revoked(text: str) -> set[bytes]:
    """The keys of a file of revoked public keys, one per line, without other types.

    Raises:
        BadReceipt: a line is not a public key. A key that is not read would not be refused.
    """
    found = set()
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 2 or not KEY_TYPE.fullmatch(words[0]):
            raise BadReceipt(
                f"Line {number} of the revoked keys is not a public key: {line[:80]!r}. Podium "
                "serves them at /.well-known/podium/revoked_keys."
            )
        if words[0] == "ssh-ed25519":
            found.add(read_public(words[1]))
    return found


def _line(signer: Signer) -> str:
    options = []
    if signer.namespaces:
        options.append(f'namespaces="{",".join(signer.namespaces)}"')
    if signer.after is not None:
        options.append(f'valid-after="{signer.after:{TIME}}"')
    if signer.before is not None:
        options.append(f'valid-before="{signer.before:{TIME}}"')
    words = (signer.name, ",".join(options), public_line(signer.public))
    return " ".join(word for word in words if word)


def _time(text: str | None, line: int) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, TIME).replace(tzinfo=UTC)
    except ValueError:
        raise BadReceipt(
            f"Line {line} of the allowed signers has the time {text!r}; expected UTC as "
            "20261231235959Z."
        ) from None
