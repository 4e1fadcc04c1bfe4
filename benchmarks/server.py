"""A real server for measurements, with one competition whose submissions are 12 kB."""

from __future__ import annotations

import contextlib
import io
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

ROWS = 870  # spaceship-titanic's: about 12 kB
KEY = re.compile(r"pod_admin_\S+")
TOML = """title = "Benchmark"
version = 1
[metric]
name = "accuracy_score"
[submission]
id = "PassengerId"
[submission.columns]
Transported = { kind = "boolean" }
"""
RUNS = 32  # as many as the largest number of clients: an agent has a run of its own


@dataclass
class Server:
    """A running server, its process, and runs with their keys: each client may have its own."""

    port: int
    process: subprocess.Popen[str]
    start: Callable[[], subprocess.Popen[str]]
    key: str
    runs: list[tuple[str, str]]
    body: bytes
    data: Path

    @property
    def run(self) -> str:
        """The first run."""
        return self.runs[0][0]

    @property
    def run_key(self) -> str:
        """The key of the first run."""
        return self.runs[0][1]

    @property
    def pid(self) -> int:
        """The process's number."""
        return self.process.pid

    def restart(self) -> None:
        """End the process, and start another one on the same port and data."""
        self.process.terminate()
        self.process.wait()
        self.process = self.start()

    def get(self, path: str) -> httpx.Response:
        return httpx.get(
            f"http://127.0.0.1:{self.port}{path}",
            headers={"Authorization": f"Bearer {self.key}"},
            trust_env=False,
            timeout=600,
        )

    def client(self) -> httpx.Client:
        """A client that keeps its connection, as a browser does; to be closed."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {self.key}"},
            trust_env=False,
            timeout=600,
        )

    @contextlib.contextmanager
    def stream(self, path: str) -> Iterator[Iterator[str]]:
        """The lines of an answer as they come."""
        bearer = {"Authorization": f"Bearer {self.key}"}
        address = f"http://127.0.0.1:{self.port}{path}"
        with httpx.stream("GET", address, headers=bearer, trust_env=False, timeout=600) as answer:
            yield answer.iter_lines()


@contextlib.contextmanager
def running(
    code: Path | None = None, *, metric_py: str = "", **settings: object
) -> Iterator[Server]:
    """A server of this version, or of the one whose checkout is in the directory `code`.

    The competition's metric is `metric_py`, if one is given.
    """
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as directory:
        port = free_port()
        (Path(directory) / "none").mkdir()
        environment = {
            **os.environ,
            "PODIUM_DATA_DIR": f"{directory}/data",
            "PODIUM_COMPETITIONS_DIR": f"{directory}/none",
            "PODIUM_LOG_LEVEL": "warning",
            # Measured is the work, not the moments at which a run's key may see outcomes.
            "PODIUM_OUTCOME_STEP_SECONDS": "0",
            **{f"PODIUM_{name.upper()}": str(value) for name, value in settings.items()},
        }

        processes = []
        key = ""

        def start() -> subprocess.Popen[str]:
            nonlocal key
            process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "serve", "--port", str(port)],
                env=environment, stdout=subprocess.PIPE, text=True, cwd=code,
            )  # fmt: skip
            processes.append(process)
            assert process.stdout is not None
            for line in process.stdout:
                found = KEY.search(line)
                key = found.group() if found else key
                if line.startswith("Podium serves"):
                    break
            return process

        try:
            process = start()
            runs = set_up(port, key, metric_py)
            data = Path(directory) / "data"
            yield Server(port, process, start, key, runs, submission(), data)
        finally:
            for process in processes:
                process.terminate()
                process.wait()


def set_up(port: int, key: str, metric_py: str = "") -> list[tuple[str, str]]:
    """Import the competition, and make runs at it."""
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}", headers=bearer, trust_env=False, timeout=60
    ) as podium:
        podium.post(
            "/v1/competitions", files={"archive": competition(metric_py)}
        ).raise_for_status()
        experiment = {"name": "bench", "agent": "a", "model": "m"}
        podium.post("/v1/experiments", json=experiment).raise_for_status()
        runs = []
        for seed in range(RUNS):
            body = {"experiment": "bench", "competition": "benchmark", "seed": seed}
            run = podium.post("/v1/runs", json=body).raise_for_status().json()
            runs.append((run["id"], run["key"]))
        return runs


def competition(metric_py: str = "") -> bytes:
    answers = submission(answers=True)
    toml = TOML.replace("accuracy_score", "own_score") if metric_py else TOML
    files = {
        "competition.toml": toml.encode(),
        "description.md": b"Predict.\n",
        "public/sample_submission.csv": submission(),
        "private/answers.csv": answers,
    }
    if metric_py:
        files["metric.py"] = metric_py.encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"benchmark/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def submission(*, answers: bool = False) -> bytes:
    rows = [
        f"{n:04d}_01,{'True' if (n * 7919) % (3 if answers else 2) else 'False'}"
        for n in range(ROWS)
    ]
    return ("PassengerId,Transported\n" + "\n".join(rows) + "\n").encode()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
