"""Environments of their own for the clients; a server and a harness's key."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import (  # noqa: F401 (fixtures)
    Podium,
    good,
    packed,
    podium,
    server,
    tiny,
)
from tests.factories import good_submission, write_competition
from tests.forked_python import ForkedPython
from tests.server import PodiumServer

ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
UV = str(Path(sys.executable).with_name("uv"))
SECONDS = 300.0  # which a program may take
OF_MLEBENCH = (
    "argparse", "dataclasses", "hashlib", "http.client", "importlib.resources", "json", "logging",
    "ssl", "tempfile", "urllib.request",
)  # fmt: skip


@dataclass(frozen=True)
class Environment:
    """A virtual environment with one client, and the variables that a harness sets.

    `forked` is its Python, which has loaded the libraries of the client; a program whose variables
    only a start reads is started. They work in `work`, or in the environment itself.
    """

    forked: ForkedPython
    variables: dict[str, str] = field(default_factory=dict)
    work: Path | None = None

    @property
    def directory(self) -> Path:
        return self.work or self.home

    @property
    def home(self) -> Path:
        return self.forked.python.parents[1]

    def python(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `-c CODE ...` or a file; nothing of the tests' own environment is there."""
        named = {
            "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", **self.variables, **variables
        }  # fmt: skip
        if "PYTHONPATH" in variables:
            return subprocess.run(
                [self.forked.python, *words], env=named, cwd=self.directory, capture_output=True,
                text=True, check=False, timeout=SECONDS,
            )  # fmt: skip
        return self.forked.run(*words, env=named, cwd=self.directory, timeout=SECONDS)

    def run(self, program: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment."""
        return self.python(str(self.home / "bin" / program), *words, **variables)

    def having(self, **variables: str) -> Environment:
        """The same environment with these variables."""
        return Environment(self.forked, variables, self.work)


def build_wheel(client: str, folder: Path) -> Path:
    """The wheel of a client. Nothing is downloaded, and the repository is not written to."""
    source = folder / "source" / client
    shutil.copytree(ROOT / "clients" / client, source)
    built = folder / "wheels" / client
    build = [*PIP, "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*build, "-w", str(built), str(source)], check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    return wheel


def make_environment(home: Path, client: str, *modules: str) -> Environment:
    """A virtual environment with the wheel of a client and no library. Nothing is downloaded.

    Its programs find `modules` loaded.
    """
    wheel = build_wheel(client, home)
    made = home / "environment"
    venv.create(made, with_pip=False, symlinks=True)
    python = made / "bin" / "python"
    install = [UV, "pip", "install", "-q", "--offline", "--no-deps", "--python", str(python)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    return Environment(ForkedPython(python, *modules))


@pytest.fixture(scope="package")
def mlebench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """An environment with podium-mlebench alone."""
    home = tmp_path_factory.mktemp("mlebench")
    made = make_environment(home, "podium-mlebench", *OF_MLEBENCH)
    yield made
    made.forked.close()


@pytest.fixture
def experiment(podium: Podium) -> str:  # noqa: F811
    return podium.experiment()


@pytest.fixture
def harness(podium: Podium, experiment: str, mlebench: Environment) -> Environment:  # noqa: F811
    """The environment with the key of a harness."""
    key = podium.harness_key(experiment)
    return mlebench.having(
        PODIUM_URL=podium.server.url, PODIUM_KEY=key, PODIUM_WAIT_SECONDS="5", NO_PROXY="*"
    )


@dataclass(frozen=True)
class ServerAway:
    """A server that was killed, the key of a harness there, and a valid file that scores 0.12."""

    server: PodiumServer
    key: str
    competition: str
    file: Path

    @contextlib.contextmanager
    def comes_back_after(self, seconds: float, *kills: int) -> Iterator[None]:
        """Start the server again after so many seconds, while the block runs.

        Kill it, and start it again, each time when it has so many files as `kills` names.
        """

        def start_again() -> None:
            time.sleep(seconds)
            self.server.start()
            self._kill_when_there_are(*kills)

        starting = threading.Thread(target=start_again)
        starting.start()
        try:
            yield
        finally:
            starting.join()

    def _kill_when_there_are(self, *counts: int) -> None:
        with self.server.client() as admin:
            for count in counts:
                while sum(sum(run["submissions"].values()) for run in _runs(admin)) < count:
                    time.sleep(0.01)
                self.server.kill()
                self.server.start()


def _runs(admin: httpx.Client) -> list[dict[str, dict[str, int]]]:
    try:
        found: list[dict[str, dict[str, int]]] = admin.get("/v1/runs").json()["items"]
    except httpx.TransportError:  # it is away
        return []
    return found


@pytest.fixture(scope="session")
def killed(tmp_path_factory: pytest.TempPathFactory) -> ServerAway:
    """What each test has a copy of."""
    home = tmp_path_factory.mktemp("killed")
    server = PodiumServer(home / "data").start()  # noqa: F811
    folder = write_competition(home / "tiny-away")
    with server.client() as admin:
        archive = {"archive": ("a.tar.gz", packed(folder))}
        assert admin.post("/v1/competitions", files=archive).status_code == 201
        admin.post("/v1/experiments", json={"name": "e", "agent": "a", "model": "m"})
        key = admin.post("/v1/keys", json={"role": "harness", "experiment": "e"}).json()["key"]
    file = home / "submission.csv"
    file.write_bytes(good_submission(folder, shift=0.12))
    server.kill()
    return ServerAway(server, key, folder.name, file)


@pytest.fixture
def server_away(killed: ServerAway, tmp_path: Path) -> Iterator[ServerAway]:
    home = killed.file.parent
    for folder in ("data", killed.competition):
        shutil.copytree(home / folder, tmp_path / folder)
    file = shutil.copy(killed.file, tmp_path)
    server = PodiumServer(tmp_path / "data")  # noqa: F811
    server.key = killed.server.key
    yield ServerAway(server, killed.key, killed.competition, Path(file))
    if server.log.exists():  # it was started, and a failed test leaves it running
        server.kill()
