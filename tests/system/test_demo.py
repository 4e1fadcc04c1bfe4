"""`podium demo` as a user runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from tests.server import free_port

ROOT = Path(__file__).parents[2]


def demo(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app.cli", "demo", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "PODIUM_PORT": str(free_port()),
            "COLUMNS": "120",
            "TMPDIR": str(tmp_path),
            # Of a Podium that is set up here: the demo neither needs nor touches it.
            "PODIUM_BLOBS_URL": (tmp_path / "store").as_uri(),
            "PODIUM_DISPATCH": "queue",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets a job in its background ignore Ctrl-C, and so would what the job starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def test_the_demo_shows_a_medal_and_a_refusal_and_ends(tmp_path: Path) -> None:
    process = demo(tmp_path, "--once")
    out, err = process.communicate(timeout=180)

    assert process.returncode == 0, err
    for line in ("gold", "0.36367", "of 3,242 teams", "Medal: gold", "Flag easier_than_kaggle"):
        assert line in out
    broken = (
        "duplicate_id",
        "unknown_id",
        "missing_id",
        "missing_value",
        "out_of_range",
        "not_finite",
    )
    for code in broken:
        assert code in out
    assert "rejected" in out
    assert list(tmp_path.iterdir()) == []


def test_the_demo_serves_until_ctrl_c(tmp_path: Path) -> None:
    process = demo(tmp_path)
    watchdog = threading.Timer(180, process.kill)
    watchdog.start()
    assert process.stdout is not None
    curl = ""
    for line in process.stdout:
        if line.startswith("curl"):
            curl = line.strip()
        if line.startswith("Ctrl-C"):
            break
    shown = subprocess.run(curl, shell=True, capture_output=True, text=True, check=True).stdout

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    watchdog.cancel()

    assert '"state":"graded"' in shown
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_demo_that_is_terminated_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    process = demo(tmp_path)
    assert process.stdout is not None
    first = process.stdout.readline()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("podium-demo-*/data")):
        assert time.monotonic() < deadline
        time.sleep(0.05)

    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)

    assert first.startswith("Podium starts")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
    assert running_in(tmp_path) == []


def running_in(directory: Path) -> list[str]:
    """The processes whose environment names a directory."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(directory).encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it ended, or belongs to somebody else
            continue
    return found


@pytest.mark.parametrize("pause", [0.0, 1.0])
def test_a_server_that_starts_too_slowly_is_ended_and_named(tmp_path: Path, pause: float) -> None:
    """Also if the thread that ends it does nothing else for a while, as on a busy machine."""
    code = (
        "import subprocess, time\n"
        "kill = subprocess.Popen.kill\n"
        f"subprocess.Popen.kill = lambda server: (kill(server), time.sleep({pause}))\n"
        "from app.cli.demo import run_demo\n"
        "run_demo.START_SECONDS = 1\n"
        "run_demo.run_demo(once=True)\n"
    )
    slow = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )

    assert "The server did not start within 1 second and was ended." in slow.stderr
