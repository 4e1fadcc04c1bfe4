"""Signals that have arrived: a process told to stop runs on for a moment."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

PATIENCE_SECONDS = 10


def send_signal(process: subprocess.Popen[str] | subprocess.Popen[bytes], what: int) -> None:
    """Send a signal. After SIGSTOP, wait until all threads stand still."""
    process.send_signal(what)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while what == signal.SIGSTOP and not _stands_still(process.pid):
        assert time.monotonic() < deadline, f"process {process.pid} does not stop"
        time.sleep(0.001)


def _stands_still(pid: int) -> bool:
    return all(map(_is_stopped, Path(f"/proc/{pid}/task").glob("*/stat")))


def _is_stopped(stat: Path) -> bool:
    """Whether a thread is stopped, dead or gone."""
    try:
        text = stat.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    # proc(5): the state stands after the name, which is in brackets and may hold anything.
    return text.rpartition(")")[2].split()[0] in ("T", "Z", "X")
