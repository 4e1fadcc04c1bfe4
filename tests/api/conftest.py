"""One real server per database and test process; a module has a competition, each test its runs."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.factories import good_submission, write_competition
from tests.forkserver import run_podium
from tests.podium_worker import PodiumWorker
from tests.server import NO_CERTIFICATES, PodiumServer

_numbers = itertools.count(1)
CSV = {"Content-Type": "text/csv"}
METRICS_KEY = "a-key-for-prometheus"
WAIT = {**CSV, "Prefer": "wait=30"}


@dataclass
class Run:
    """A run with its key: what an agent's container holds."""

    id: str
    document: dict[str, Any]
    client: httpx.Client

    def submit(self, body: bytes, **headers: str) -> httpx.Response:
        return self.client.post(
            f"/v1/runs/{self.id}/submissions", content=body, headers={**WAIT, **headers}
        )

    def validate(self, body: bytes, **headers: str) -> httpx.Response:
        return self.client.post(
            f"/v1/runs/{self.id}/validate", content=body, headers={**CSV, **headers}
        )


@dataclass
class Podium:
    """A server, an admin's client, and quick ways to what most tests begin with."""

    server: PodiumServer
    folders: Path
    clients: contextlib.ExitStack

    @property
    def queues(self) -> bool:
        """Whether a worker grades, and not the server."""
        return self.server.environment.get("PODIUM_DISPATCH") == "queue"

    @functools.cached_property
    def admin(self) -> httpx.Client:
        return self.client(self.server.key)

    def client(self, key: str = "") -> httpx.Client:
        """A client with this key, or with none; closed when the test ends."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        opened = httpx.Client(
            base_url=self.server.url,
            headers=headers,
            timeout=60,
            trust_env=False,
            verify=NO_CERTIFICATES,
        )
        return self.clients.enter_context(opened)

    def researcher_key(self) -> str:
        """A researcher's key of this server."""
        return make_researcher_key(self.server)

    def harness_key(self, experiment: str) -> str:
        """A key of a harness of this experiment."""
        body = {"role": "harness", "experiment": experiment}
        made = self.admin.post("/v1/keys", json=body)
        assert made.status_code == 201, made.text
        key: str = made.json()["key"]
        return key

    def folder(self, slug: str = "", **given: Any) -> Path:
        slug = slug or f"tiny-{os.getpid()}-{next(_numbers)}"
        return write_competition(self.folders / slug, **given)

    def send_folder(self, folder: Path) -> httpx.Response:
        archive = {"archive": (f"{folder.name}.tar.gz", packed(folder), "application/gzip")}
        return self.admin.post("/v1/competitions", files=archive)

    def competition(self, **given: Any) -> Path:
        folder = self.folder(**given)
        response = self.send_folder(folder)
        assert response.status_code == 201, response.text
        return folder

    def experiment(self) -> str:
        name = f"experiment-{os.getpid()}-{next(_numbers)}"
        body = {"name": name, "agent": "an-agent", "model": "a-model"}
        assert self.admin.post("/v1/experiments", json=body).status_code == 201
        return name

    def run(self, folder: Path, feedback: str = "validity", **more: Any) -> Run:
        body = {
            "experiment": self.experiment(), "competition": folder.name, "seed": 0,
            "feedback": feedback, **more,
        }  # fmt: skip
        response = self.admin.post("/v1/runs", json=body)
        assert response.status_code == 201, response.text
        document = response.json()
        return Run(document["id"], document, self.client(document["key"]))

    def settled(self, submission: str) -> None:
        """Wait until a submission is settled, which its agent may not be told."""
        deadline = time.monotonic() + 30
        path = f"/v1/submissions/{submission}"
        while self.admin.get(path).json()["state"] in ("queued", "grading"):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@functools.cache
def make_researcher_key(server: PodiumServer) -> str:
    """A researcher's key, made by the command that makes keys: once per server, as that is slow."""
    made = run_podium(
        ["keys", "create", "researcher"],
        env=server.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return made.stdout.strip()


def packed(folder: Path) -> bytes:
    """The folder as a .tar.gz."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder, arcname=folder.name)
    return buffer.getvalue()


# The servers of the tests over HTTP, each in turn: one on SQLite that grades, and one on
# PostgreSQL that queues, with a worker that grades. PODIUM_TEST_MODES=postgresql is what lies
# between: a server on PostgreSQL that grades.
MODES = os.environ.get("PODIUM_TEST_MODES", "sqlite,queue").split(",")


@pytest.fixture(scope="package", params=MODES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PodiumServer]:
    home = tmp_path_factory.mktemp(f"podium-{request.param}")
    with contextlib.ExitStack() as stack:
        url = ""
        if request.param != "sqlite":
            postgres = request.getfixturevalue("postgres")
            migrated = request.getfixturevalue("migrated_postgres")
            url = postgres.url(stack.enter_context(postgres.database(migrated)))
        settings = {"dispatch": "queue"} if request.param == "queue" else {}
        started = PodiumServer(
            home / "data",
            url,
            grading_seconds=20,
            max_upload_mb=32,
            event_stream_seconds=1,
            metrics_key=METRICS_KEY,
            **settings,
        ).start()
        if request.param == "queue":
            worker = PodiumWorker(started, home / "worker").start()
            stack.callback(worker.stop)
        yield started
        assert started.stop() == 0


@pytest.fixture
def podium(server: PodiumServer) -> Iterator[Podium]:
    with contextlib.ExitStack() as clients:
        yield Podium(server, server.data_dir.parent / "folders", clients)


@pytest.fixture(scope="module")
def tiny(server: PodiumServer) -> Path:
    """A competition of 20 rows, half of them public, with a full human board.

    All tests of a module have runs of their own at it. Who changes it, or looks at all of its
    results, takes `own_tiny`.
    """
    with contextlib.ExitStack() as clients:
        return Podium(server, server.data_dir.parent / "folders", clients).competition()


@pytest.fixture
def own_tiny(podium: Podium) -> Path:
    """A competition like `tiny`, of one test."""
    return podium.competition()


@pytest.fixture
def good(tiny: Path) -> bytes:
    """A valid submission to `tiny` that is not perfect."""
    return good_submission(tiny, shift=0.12)
