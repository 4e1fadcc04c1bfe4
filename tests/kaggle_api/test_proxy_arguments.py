from __future__ import annotations

import os

import pytest

from tests.forkserver import run_podium


@pytest.mark.parametrize("words", [("--to", "egg"), ("--listen", "80"), ("--key-file", os.devnull)])
def test_wrong_arguments_are_told(tmp_path, words):
    (tmp_path / "key").write_text("pod_run_x")
    given = {"--to": "http://127.0.0.1:1", "--key-file": str(tmp_path / "key")}
    given |= dict([words])
    ran = run_podium(
        ["proxy", *(w for pair in given.items() for w in pair)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert ran.returncode == 1
    assert ran.stderr
    assert "Traceback" not in ran.stderr
