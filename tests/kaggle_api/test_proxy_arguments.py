from __future__ import annotations

import os
import socket
import subprocess

import pytest

from tests.forkserver import PodiumProcess, run_podium


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


def test_a_key_file_that_is_not_there_is_a_mistake_of_the_command_line(tmp_path):
    file = tmp_path / "nowhere"
    ran = run_podium(
        ["proxy", "--to", "http://127.0.0.1:1", "--key-file", str(file)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert ran.returncode == 2
    assert f"--key-file: {file} cannot be read: No such file or directory" in ran.stderr


def test_a_pipe_of_which_the_key_is_awaited_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with PodiumProcess(
        ["proxy", "--to", "http://127.0.0.1:1", "--key-file", str(tmp_path / "pipe"),
         "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as ran:  # fmt: skip
        (tmp_path / "pipe").write_text("pod_run_x")
        assert "forwarding" in ran.stdout.readline()
        ran.terminate()

        assert ran.stderr.read() == f"waiting for the key from the pipe {tmp_path / 'pipe'}\n"


def test_an_address_that_cannot_be_listened_on_is_named(tmp_path):
    (tmp_path / "key").write_text("pod_run_x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for address, why in (
            (f"127.0.0.1:{port}", "Address already in use"),
            ("nowhere.invalid:80", "Name or service not known"),
        ):
            ran = run_podium(
                ["proxy", "--to", "http://127.0.0.1:1", "--key-file", str(tmp_path / "key"),
                 "--listen", "127.0.0.1:0", "--listen", address],
                env={**os.environ, "COLUMNS": "200"}, capture_output=True, text=True, timeout=60,
            )  # fmt: skip

            assert ran.returncode == 1
            assert f"Cannot listen on {address}: {why}. Choose another --listen." in ran.stderr
