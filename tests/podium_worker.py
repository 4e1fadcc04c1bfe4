"""A real worker in a process of its own, for tests that grade through the queue."""

from __future__ import annotations

import signal
import subprocess
import threading
from pathlib import Path
from typing import Any, Self

from tests.forkserver import PodiumProcess
from tests.server import START_SECONDS, PodiumServer
from tests.signals import send_signal


class PodiumWorker:
    """`podium worker` in a process of its own, with a data directory of its own.

    Its blobs are the server's: in the same store, or through the same directory on this disk.
    """

    def __init__(self, server: PodiumServer, data: Path, *options: str, **settings: Any) -> None:
        if "PODIUM_BLOBS_URL" not in server.environment:
            share_files(server.data_dir, data)
        self.log = data.parent / f"{data.name}.log"
        self.options = options
        self.environment = {
            **server.environment,
            "PODIUM_DATA_DIR": str(data),
            **{f"PODIUM_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self.process: subprocess.Popen[str]

    def launch(self) -> Self:
        """Start the process without waiting for it."""
        with self.log.open("ab") as log:
            self.process = PodiumProcess(
                ["worker", *self.options],
                env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        return self

    def start(self) -> Self:
        self.launch()
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        watchdog.cancel()
        assert line.startswith("Podium worker"), f"no worker:\n{self.log.read_text()[-3000:]}"
        return self

    def send(self, number: signal.Signals) -> None:
        send_signal(self.process, number)

    def wait(self, seconds: float = 60) -> int:
        status = self.process.wait(seconds)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status

    def kill(self) -> None:
        if self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.process.kill()
        self.wait()

    def stop(self) -> int:
        self.send(signal.SIGTERM)
        return self.wait()


def share_files(origin: Path, other: Path) -> None:
    """Let two data directories have the same blobs and competitions, as a shared disk would."""
    other.mkdir(parents=True, exist_ok=True)
    for name in ("blobs", "competitions"):
        (origin / name).mkdir(parents=True, exist_ok=True)
        if not (other / name).exists():
            (other / name).symlink_to(origin / name)
