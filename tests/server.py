"""A real Podium server in a process of its own, for tests that speak HTTP to it."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import httpx

from tests.forkserver import PodiumProcess
from tests.migrated import make_data_directory

KEY = re.compile(r"pod_admin_\S+")
START_SECONDS = 90
FIRST_PORT = 10_000  # of those that servers of tests listen on
FEWEST_PORTS = 2_000  # for one process of pytest
# Over plain HTTP nothing is verified: loading certificates takes 30 ms, a context for TLS one.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class PodiumServer:
    """`podium serve` on a free port. It can be killed, and started again on the same data.

    It finds a migrated database; with `migrates`, none, as on a first start.
    """

    def __init__(
        self, data_dir: Path, database_url: str = "", *, migrates: bool = False, **settings: Any
    ) -> None:
        self.data_dir = data_dir
        self.migrates = migrates
        self.key = ""
        self.port = free_port()
        self.log = data_dir.parent / f"{data_dir.name}.log"
        self._process: subprocess.Popen[str] | None = None
        empty = data_dir.parent / "no-competitions"
        empty.mkdir(exist_ok=True, parents=True)
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
            "PODIUM_DATA_DIR": str(data_dir),
            "PODIUM_DATABASE_URL": database_url,
            "PODIUM_COMPETITIONS_DIR": str(empty),
            "PODIUM_OUTCOME_STEP_SECONDS": "0.02",  # tests of times set others
            **{f"PODIUM_{name.upper()}": str(value) for name, value in settings.items()},
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self._process is not None, "the server was never started"
        return self._process

    def start(self) -> Self:
        if self._process is not None:  # a test ended it by a signal of its own
            self._close_pipe()
        if not (self.migrates or self.data_dir.exists() or self.environment["PODIUM_DATABASE_URL"]):
            make_data_directory(self.data_dir)
        with self.log.open("ab") as log:
            self._process = PodiumProcess(
                ["serve", "--port", str(self.port)],
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        watchdog = threading.Timer(START_SECONDS, self._process.kill)
        watchdog.start()
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = KEY.search(line)
            self.key = found.group() if found else self.key
            if line.startswith("Podium serves"):
                watchdog.cancel()
                return self
        watchdog.cancel()
        raise AssertionError(f"the server did not start:\n{self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        """SIGKILL: what a crash is. A server that has ended already is only cleared away."""
        self.process.kill()
        self.process.wait()
        self._close_pipe()

    def stop(self) -> int:
        """SIGTERM: what an operator does; says the exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        self._close_pipe()
        return status

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key if key is None else key}"}
        return httpx.Client(
            base_url=self.url, headers=headers, timeout=90, trust_env=False, verify=NO_CERTIFICATES
        )

    def _close_pipe(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()


def free_port() -> int:
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens on: all are bound before the first is released."""
    found: list[int] = []
    with contextlib.ExitStack() as stack:
        while len(found) < count:
            port = next(_own_ports)
            probe = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):  # somebody listens there
                probe.bind(("127.0.0.1", port))
                found.append(port)
    return found


def own_ports() -> Iterator[int]:
    """Ports for the servers of this process of pytest, again and again.

    They are below those that the system gives to connections: one of those may be that of another
    test's connection when a server that was killed is started again on it.
    """
    below = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    each = max(below - FIRST_PORT, processes * FEWEST_PORTS) // processes
    ports = range(FIRST_PORT + number * each, FIRST_PORT + (number + 1) * each)
    begin = random.SystemRandom().randrange(each)  # another run may go on beside this one
    return itertools.islice(itertools.cycle(ports), begin, None)


_own_ports = own_ports()
