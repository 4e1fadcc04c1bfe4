"""`podium verify RECEIPT` says what it did not check, because nobody gave it the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks import test_proofs
from tests.attacks.test_proofs import verify

files = test_proofs.files
WITH_LOG = "receipt.json --log inclusion.json --log consistency.json --checkpoint kept"
KEY, LOG, OTHERS = "--revoked FILE", "--log FILE", "--checkpoint FILE"


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("receipt.json", {KEY, LOG, OTHERS}),
        ("receipt.json --revoked revoked_keys", {LOG, OTHERS}),
        ("receipt.json --log inclusion.json", {KEY, OTHERS}),
        (WITH_LOG, {KEY}),
        ("--log consistency.json --checkpoint kept --revoked revoked_keys", set()),
        (f"{WITH_LOG} --revoked revoked_keys", set()),
    ],
)
def test_what_was_not_checked_is_said(files: Path, words: str, left_out: set[str]) -> None:
    (files / "revoked_keys").write_text("")

    done = verify(files, words)
    as_json = verify(files, f"{words} --json")

    assert (done.returncode, as_json.returncode) == (0, 0), done.stderr
    said = json.loads(as_json.stdout)["not checked"] or ""
    assert {each for each in (KEY, LOG, OTHERS) if each in said} == left_out
    assert (f"not checked: {said}" in done.stdout) == bool(left_out)
