"""Keys and signatures that `ssh-keygen -Y verify` refuses are not taken here either."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from app.receipts import ed25519, sshsig
from app.receipts.allowed_signers import Signer, allowed_signers, read_allowed_signers
from app.receipts.check import Trust, check_receipt
from app.receipts.errors import BadReceipt
from tests.receipts.test_sshsig import DATA, NAME, PRIVATE, PUBLIC, SIGNATURE

LINE = sshsig.public_line(PUBLIC)
OTHER = base64.b64encode(
    b"".join(
        len(part).to_bytes(4, "big") + part
        for part in (b"sk-ssh-ed25519@openssh.com", ed25519.public_key(bytes(32)), b"ssh:")
    )
).decode()
OTHERS = (
    f"{NAME} sk-ssh-ed25519@openssh.com {OTHER} my token\n"
    f'{NAME} namespaces="git" sk-ssh-ed25519@openssh.com {OTHER} not ssh-ed25519 itself\n'
)


def says_good(folder: Path, signers: str, signature: str) -> bool:
    """Whether `ssh-keygen` takes the signature."""
    (folder / "allowed").write_text(signers)
    (folder / "sig").write_text(signature)
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-f", folder / "allowed", "-I", NAME,
         "-n", sshsig.RECEIPT_NAMESPACE, "-s", folder / "sig"],
        input=DATA, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0


def is_taken(signers: str, signature: str) -> bool:
    """Whether it is taken here."""
    try:
        check_receipt(DATA, signature, Trust(read_allowed_signers(signers)))
    except BadReceipt:
        return False
    return True


@pytest.mark.parametrize(
    ("signers", "is_good"),
    [
        (f"{NAME} {LINE}\n", True),
        (f'{NAME} namespaces="podium-receipt@v1" {LINE}\n', True),
        (f'{NAME} namespaces="git,podium-receipt@v1" {LINE} a comment\n', True),
        (f"{OTHERS}{NAME} {LINE}\n", True),
        (f'{NAME} namespaces="" {LINE}\n', False),
        (f'{NAME} namespaces="git" {LINE}\n', False),
        (f'{NAME} namespaces="git",namespaces="podium-receipt@v1" {LINE}\n', False),
        (f'{NAME} purpose="receipts" {LINE}\n', False),
        (f"{NAME} cert-authority {LINE}\n", False),
        (f'{NAME} cert-authority,namespaces="podium-receipt@v1" {LINE}\n', False),
        (f'{NAME} namespaces="podium-receipt@v1",cert-authority {LINE}\n', False),
        (f"*@example.org cert-authority {LINE}\n{NAME} {LINE}\n", True),
        (OTHERS, False),
    ],
)
def test_keys_are_taken_as_openssh_takes_them(tmp_path: Path, signers: str, is_good: bool) -> None:
    assert says_good(tmp_path, signers, SIGNATURE) is is_good
    assert is_taken(signers, SIGNATURE) is is_good


@pytest.mark.parametrize("tail", [b"\0", b"\0\0\0\0", DATA], ids=["byte", "string", "receipt"])
def test_a_signature_with_something_after_it_is_none(tmp_path: Path, tail: bytes) -> None:
    lines = SIGNATURE.split("\n")
    data = base64.b64decode("".join(lines[1:-2])) + tail
    text = "\n".join([lines[0], base64.b64encode(data).decode(), *lines[-2:]])

    assert not says_good(tmp_path, f"{NAME} {LINE}\n", text)
    assert not is_taken(f"{NAME} {LINE}\n", text)


def test_a_key_for_anything_is_read_back() -> None:
    anything = Signer(NAME, ed25519.public_key(PRIVATE), namespaces=())
    assert read_allowed_signers(allowed_signers([anything])) == [anything]
