"""Commands with wrong settings: a sentence, exit status 1, no traceback, nothing made."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_places import podium_in


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        (["serve"], {"PODIUM_PORT": "abc"}, "PODIUM_PORT is 'abc': expected a whole number"),
        (["keys", "list"], {"PODIUM_PROT": "1"}, "did you mean PODIUM_PORT?"),
        (["check"], {"PODIUM_COMPETITIONS_DIR": "/nowhere"}, "PODIUM_COMPETITIONS_DIR is"),
        (["serve"], {"PODIUM_DATA_DIR": "/dev/null/x"}, "PODIUM_DATA_DIR is '/dev/null/x'"),
        (["gc"], {"PODIUM_GC_AGE_HOURS": "old"}, "PODIUM_GC_AGE_HOURS is 'old': expected"),
        (["verify"], {"PODIUM_DATA_DIR": "x" * 5000}, "letters is too long"),
        (["serve"], {"PODIUM_DATA_DIR": "data\udcff"}, "expected a path in UTF-8"),
        (["serve"], {"PODIUM_HOST": ""}, "The host is empty: expected an address"),
        (["worker"], {"PODIUM_GRADERS": "-1"}, "PODIUM_GRADERS is '-1': expected"),
    ],
)
def test_a_wrong_setting_is_a_sentence(
    tmp_path: Path, words: list[str], variables: dict[str, str], said: str
) -> None:
    done = podium_in(tmp_path, *words, **variables)

    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "pydantic" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


def test_settings_are_read_from_a_pipe_to_which_a_program_writes_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")
    write = "while :; do echo PODIUM_DATA_DIR=from-the-pipe > .env; done"

    with subprocess.Popen(["sh", "-c", write], cwd=tmp_path) as writer:
        done = podium_in(tmp_path, "keys", "list")
        writer.kill()

    assert done.returncode == 1
    assert f"{tmp_path / 'from-the-pipe'}" in done.stderr


def test_what_is_wrong_with_a_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / ".env").write_bytes(b"PODIUM_SIGNER_NAME=caf\xe9\n")
    (tmp_path / "nul").mkdir()
    (tmp_path / "nul" / ".env").write_bytes(b"PODIUM_DATA_DIR=a\0b\n")
    command = [sys.executable, "-m", "app.cli", "competitions", "list"]
    removed = f"mkdir gone; cd gone; rmdir ../gone; {shlex.join(command)}"

    null = {"PODIUM_BLOBS_URL": "file:///tmp/a%00b"}

    for done, told in (
        (podium_in(tmp_path, "serve", "--port", 0, **null), "PODIUM_BLOBS_URL cannot be used"),
        (podium_in(tmp_path, "serve", PODIUM_DATA_DIR=str(tmp_path / "loop")), "symbolic links"),
        (podium_in(tmp_path / "latin", "keys", "list"), ".env is not text in UTF-8"),
        (podium_in(tmp_path / "nul", "keys", "list"), r"a\x00b': no path has such"),
        (
            subprocess.run(
                ["sh", "-c", removed], cwd=tmp_path, capture_output=True, text=True, check=False
            ),
            "The working directory was removed",
        ),
    ):
        assert done.returncode == 1
        assert told in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["db upgrade", "competitions list"])
def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path, words: str) -> None:
    (tmp_path / "podium.db").write_text("an editor wrote this " * 100)
    done = podium_in(tmp_path, *words.split(), PODIUM_DATA_DIR=str(tmp_path))

    assert done.returncode == 1
    assert done.stderr.startswith("The database is damaged, or empty although files belong to one")
    assert "The database is damaged: file is not a database. Restore a backup" in done.stderr
    assert "Traceback" not in done.stderr
