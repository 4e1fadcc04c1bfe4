"""subprocess.run for programs of one Python, with a fork in place of each start."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("program.py")
LOAD_SECONDS = 300.0
# Python and its libraries read these at their start, so a fork would not see another value.
READ_AT_START = ("PYTHON", "LD_", "OPENBLAS_", "OMP_", "MALLOC_", "LC_", "LANG")

AT_START = {"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"}  # for modules that load NumPy


class ForkedPython:
    """A Python that has loaded these modules; it starts with its first program.

    The modules must not read the environment when they are loaded, and start no threads.
    """

    def __init__(self, python: Path, *modules: str) -> None:
        self.python = python
        self._modules = modules
        self._start_environment: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket

    def run(
        self, *words: str, env: dict[str, str], cwd: Path, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `-c CODE ...` or `SCRIPT ...`, where SCRIPT is a file of Python with its path."""
        if self._process is None:
            self._begin(env)
        at_start = read_at_start(env)
        assert at_start == self._start_environment, f"a fork does not read {at_start} anew"
        request = json.dumps({"words": words, "environment": env, "cwd": str(cwd)}).encode()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            socket.send_fds(self._channel, [request], [output.fileno(), errors.fileno()])
            self._channel.settimeout(timeout)
            answer = self._channel.recv(64)
            assert answer, "the process that forks has ended; its standard error says why"
            texts = []
            for file in (output, errors):
                file.seek(0)
                texts.append(file.read().decode().replace("\r\n", "\n").replace("\r", "\n"))
        return subprocess.CompletedProcess(words, int(answer), *texts)

    def close(self) -> None:
        """End the process, and what it runs."""
        if self._process is not None:
            self._channel.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def _begin(self, environment: dict[str, str]) -> None:
        self._start_environment = read_at_start(environment)
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [self.python, PROGRAM, str(theirs.fileno()), *self._modules],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                env={**AT_START, "HOME": str(self.python.parents[1]), **self._start_environment},
            )  # fmt: skip
        atexit.register(self.close)
        self._channel.settimeout(LOAD_SECONDS)
        assert self._channel.recv(64) == b"ready", f"{self.python} did not start"


def read_at_start(environment: dict[str, str]) -> dict[str, str]:
    """The variables that only a newly started Python would read."""
    return {k: v for k, v in environment.items() if k.startswith(READ_AT_START)}
