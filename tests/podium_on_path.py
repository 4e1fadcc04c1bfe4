"""A `podium` for the PATH of shells: each kind of command is started once, and forked from then on.

A shell's own children cannot be forked from the fork server, so the program that stands on the PATH
sends its arguments, environment, directory and streams to the test, which runs the command, and
ends with its status. Whoever ends the program by SIGTERM ends the command by it.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Self

from tests.forkserver import PodiumProcess

START = -1
GROUPS = ("db", "experiments", "import", "keys", "receipts", "reviews", "runs")
# A path with a blank cannot stand in the first line: sh reads the second, and Python a text.
CLIENT = """#!/bin/sh
'''exec' '{python}' -IS "$0" "$@"
' '''
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as test:
    test.connect({address!r})
    signal.signal(signal.SIGTERM, lambda *_: test.shutdown(socket.SHUT_WR))
    env = {{name: value for name, value in os.environ.items() if name != "LC_CTYPE"}}  # Python's
    asked = {{"words": sys.argv[1:], "env": env, "cwd": os.getcwd()}}
    socket.send_fds(test, [json.dumps(asked).encode() + b"\\n"], [0, 1, 2])
    status = int(test.recv(16))
if status == {start}:
    os.execve({podium!r}, [{podium!r}, *sys.argv[1:]], env)
sys.exit(status)
"""


class PodiumOnPath:
    """Answers what the program asks that it writes, until it is closed.

    With `forks_all`, no command is started.
    """

    def __init__(self, program: Path, *, forks_all: bool = False) -> None:
        self._forks_all = forks_all
        self._seen: set[tuple[str, ...]] = set()
        address = str(program.with_suffix(".socket"))
        program.write_text(
            CLIENT.format(
                python=sys.executable, address=address, start=START,
                podium=str(Path(sys.executable).parent / "podium"),
            )
        )  # fmt: skip
        program.chmod(0o755)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen()
        self._thread = threading.Thread(target=self._answer_all)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _answer_all(self) -> None:
        while True:
            try:
                asker, _ = self._listener.accept()
            except OSError:  # it was shut down
                return
            threading.Thread(target=self._answer, args=(asker,)).start()

    def _answer(self, asker: socket.socket) -> None:
        with asker:
            data, streams, _, _ = socket.recv_fds(asker, 1 << 20, 3)
            while not data.endswith(b"\n"):
                data += asker.recv(1 << 20)
            try:
                asker.sendall(str(self._run(json.loads(data), streams, asker)).encode())
            finally:
                for stream in streams:
                    os.close(stream)

    def _run(self, asked: dict[str, Any], streams: list[int], asker: socket.socket) -> int:
        """The status of the command; START if its kind was never started."""
        words = asked["words"]
        kind = tuple(words[: 2 if words[0] in GROUPS else 1])
        if not self._forks_all and kind not in self._seen:
            self._seen.add(kind)
            return START
        stdin, stdout, stderr = streams
        process = PodiumProcess(
            words, env=asked["env"], cwd=asked["cwd"],
            stdin=stdin, stdout=stdout, stderr=stderr,
        )  # fmt: skip
        ended = os.pidfd_open(process.pid)
        try:
            readable, _, _ = select.select([asker.fileno(), ended], [], [])
            if asker.fileno() in readable:  # its end: nobody waits
                process.terminate()
        finally:
            os.close(ended)
        return process.wait()
