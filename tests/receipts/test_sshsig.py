"""Receipts against OpenSSH and OpenSSL themselves, and against every change of a byte."""

from __future__ import annotations

import base64
import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.receipts import dsse, ed25519, sshsig
from app.receipts.allowed_signers import Signer, allowed_signers, read_allowed_signers, read_revoked
from app.receipts.check import Trust, check_receipt
from app.receipts.errors import BadReceipt
from app.receipts.statements import Facts, ReceiptKind, statement

PRIVATE = bytes(range(32))
PUBLIC = ed25519.public_key(PRIVATE)
AT = datetime(2026, 11, 22, 12, 0, 0, 250_000, UTC)
HOUR = timedelta(hours=1)
NAME = "podium.example"
DATA = statement(
    Facts(ReceiptKind.GRADE, (("submission.csv", "ab" * 32),), {"score": "0.30000000000000004"}),
    receipt_id="rcp_1",
    signer=NAME,
    version="podium 1",
    at=AT,
    nonce="00",
    supersedes=None,
)
SIGNATURE = sshsig.sign(PRIVATE, DATA, sshsig.RECEIPT_NAMESPACE)


def signer(after=AT - HOUR, before=None, **more):
    return Signer(NAME, PUBLIC, after and after.replace(microsecond=0), before, **more)


def ssh(tmp_path: Path, *more: str, data=DATA, signature=SIGNATURE, signers=None, namespace="",
        revoked=PUBLIC):  # fmt: skip
    """The status and the text of `ssh-keygen -Y verify`."""
    (tmp_path / "allowed").write_text(allowed_signers(signers or [signer()]))
    (tmp_path / "receipt.sig").write_text(signature)
    (tmp_path / "revoked").write_text(f"{sshsig.public_line(revoked)} stolen\n")
    found = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-f", tmp_path / "allowed", "-I", NAME,
         "-n", namespace or sshsig.RECEIPT_NAMESPACE, "-s", tmp_path / "receipt.sig",
         *(word.replace("REVOKED", str(tmp_path / "revoked")) for word in more)],
        input=data, capture_output=True, check=False,
    )  # fmt: skip
    return found.returncode, (found.stdout + found.stderr).decode()


def test_ssh_keygen_says_good(tmp_path):
    status, text = ssh(tmp_path)
    assert (status, text.startswith('Good "podium-receipt@v1" signature for podium.example')) == (
        0, True,
    )  # fmt: skip


def test_ssh_keygen_and_podium_refuse_a_changed_byte(tmp_path):
    changed = DATA.replace(b"0.3", b"0.4")
    assert changed != DATA
    status, text = ssh(tmp_path, data=changed)
    assert status != 0
    assert "incorrect signature" in text
    with pytest.raises(BadReceipt, match="was changed"):
        check_receipt(changed, SIGNATURE, Trust([signer()]))


def test_ssh_keygen_and_podium_refuse_another_namespace(tmp_path):
    status, text = ssh(tmp_path, namespace="file")
    assert status != 0
    assert "namespace" in text
    other = sshsig.sign(PRIVATE, DATA, "file")
    with pytest.raises(BadReceipt, match="made for 'file'"):
        check_receipt(DATA, other, Trust([signer()]))


def test_a_retired_key_is_good_at_the_time_of_the_receipt_only(tmp_path):
    retired = signer(before=(AT + HOUR).replace(microsecond=0))
    status, text = ssh(tmp_path, "-Overify-time=20261122120000Z", signers=[retired])
    assert status == 0, text
    status, text = ssh(tmp_path, "-Overify-time=20261122140000Z", signers=[retired])
    assert status != 0
    assert "expired" in text
    assert check_receipt(DATA, SIGNATURE, Trust([retired])).signer == NAME
    for out in (signer(after=AT + HOUR), signer(before=AT.replace(microsecond=0) - HOUR)):
        with pytest.raises(BadReceipt, match="was not valid"):
            check_receipt(DATA, SIGNATURE, Trust([out]))


def test_a_revoked_key_is_refused(tmp_path):
    assert ssh(tmp_path, "-r", "REVOKED", revoked=ed25519.public_key(bytes(32)))[0] == 0
    assert ssh(tmp_path, "-r", "REVOKED")[0] != 0
    revoked = read_revoked((tmp_path / "revoked").read_text())
    with pytest.raises(BadReceipt, match="revoked"):
        check_receipt(DATA, SIGNATURE, Trust([signer()], revoked))


def test_a_signature_of_ssh_keygen_is_read_here(tmp_path):
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True
    )
    (tmp_path / "receipt.json").write_bytes(DATA)
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", tmp_path / "key", "-n", sshsig.RECEIPT_NAMESPACE,
         tmp_path / "receipt.json"],
        check=True, capture_output=True,
    )  # fmt: skip
    line = (tmp_path / "key.pub").read_text()
    trust = Trust(read_allowed_signers(f"someone {line}"))

    checked = check_receipt(DATA, (tmp_path / "receipt.json.sig").read_text(), trust)

    assert checked.signer == "someone"


def test_each_changed_byte_of_a_receipt_is_found():
    trust = Trust([signer()])
    assert check_receipt(DATA, SIGNATURE, trust).statement["predicate"]["id"] == "rcp_1"
    for place in range(len(DATA)):
        changed = bytearray(DATA)
        changed[place] ^= 1
        with pytest.raises(BadReceipt):
            check_receipt(bytes(changed), SIGNATURE, trust)
    for changed in (DATA[:-1], DATA + b"\n", b"\n" + DATA):
        with pytest.raises(BadReceipt):
            check_receipt(changed, SIGNATURE, trust)


def test_each_changed_byte_of_a_signature_is_found():
    lines = SIGNATURE.split("\n")
    raw = base64.b64decode("".join(lines[1:-2]))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        text = "\n".join([lines[0], base64.b64encode(changed).decode(), *lines[-2:]])
        with pytest.raises(BadReceipt):
            check_receipt(DATA, text, Trust([signer()]))


@pytest.mark.parametrize("text", ["", "x", "-----BEGIN SSH SIGNATURE-----", SIGNATURE[:80]])
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(BadReceipt):
        check_receipt(DATA, text, Trust([signer()]))


def test_openssl_verifies_the_envelope(tmp_path):
    signature = dsse.sign(PRIVATE, DATA)
    envelope = dsse.envelope(DATA, signature, "sig_1")
    document = json.loads(envelope)
    assert base64.b64decode(document["payload"]) == DATA
    (tmp_path / "pae").write_bytes(dsse.signed_bytes(DATA))
    (tmp_path / "sig").write_bytes(base64.b64decode(document["signatures"][0]["sig"]))
    (tmp_path / "pem").write_text(ed25519.pem(PUBLIC))

    found = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", tmp_path / "pem", "-rawin",
         "-in", tmp_path / "pae", "-sigfile", tmp_path / "sig"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip

    assert "Signature Verified Successfully" in found.stdout
    assert check_receipt(envelope, None, Trust([signer()])).data == DATA


def test_an_envelope_is_good_if_any_of_its_signers_may_sign():
    another = bytes(32)
    signers = [Signer("other.example", ed25519.public_key(another)), signer()]
    document = json.loads(dsse.envelope(DATA, dsse.sign(another, DATA), "other"))
    document["signatures"] += json.loads(dsse.envelope(DATA, dsse.sign(PRIVATE, DATA), "own"))[
        "signatures"
    ]
    envelope = json.dumps(document).encode()
    late = Signer("other.example", signers[0].public, after=AT + HOUR)

    for trust in (Trust(signers, {signers[0].public}), Trust([late, signer()])):
        assert check_receipt(envelope, None, trust).signer == NAME
    with pytest.raises(BadReceipt, match="revoked"):
        check_receipt(envelope, None, Trust(signers, {each.public for each in signers}))


def test_each_changed_byte_of_an_envelopes_payload_is_found():
    signature = dsse.sign(PRIVATE, DATA)
    for place in range(len(DATA)):
        changed = bytearray(DATA)
        changed[place] ^= 1
        with pytest.raises(BadReceipt, match="No allowed key"):
            check_receipt(dsse.envelope(bytes(changed), signature, "x"), None, Trust([signer()]))


def test_the_pae_is_that_of_the_specification():
    # The example of the protocol of DSSE, with the type that Podium uses.
    assert dsse.signed_bytes(b"hello world") == (
        b"DSSEv1 28 application/vnd.in-toto+json 11 hello world"
    )


def test_allowed_signers_are_read_back():
    before = datetime(2026, 12, 1, tzinfo=UTC)
    signers = [signer(before=before), Signer("a.b", ed25519.public_key(bytes(32)))]
    assert read_allowed_signers(allowed_signers(signers)) == signers
    assert read_allowed_signers("# ssh-ed25519 comment\n\nx ssh-rsa AAAA\n") == []
    for line in ('x valid-after="soon" ssh-ed25519 ' + sshsig.public_line(PUBLIC).split()[1],
                 "x ssh-ed25519 AAAA", "ssh-ed25519"):  # fmt: skip
        with pytest.raises(BadReceipt):
            read_allowed_signers(line)
