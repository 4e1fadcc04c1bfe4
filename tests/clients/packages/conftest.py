"""Environments with packages of PyPI, which are the harnesses themselves; one server, on SQLite."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import ROOT, UV, Environment, build_wheel
from tests.forked_python import ForkedPython
from tests.server import PodiumServer

INSPECT_AI = "inspect-ai==0.3.285"
OF_INSPECT = (
    "inspect_ai",
    "inspect_ai._cli.main",
    "httpx",
    "trio",
)
DAY = "2026-11-15"  # whose packages of PyPI are installed
KEPT = ROOT / ".venv" / "harnesses"  # beside what the tests run in, and ignored
WITHOUT_REGISTRY = "PODIUM_TEST_WITHOUT_REGISTRY"
# They run in environments of their own, and import packages that are not here.
collect_ignore = ["harbor_driver.py", "inspect_driver.py"]


@contextlib.contextmanager
def environment_from_registry(client: str) -> Iterator[Environment]:
    """A new virtual environment with the wheel of a client and what it asks for.

    It lies where temporary files do, not in memory as what tests write, and is removed at the end.
    """
    _skip_without_registry()
    with tempfile.TemporaryDirectory(prefix="podium-clients-") as folder:
        home = Path(folder) / "environment"
        _install(home, (), (client,), ())
        made = Environment(ForkedPython(home / "bin" / "python"))
        yield made
        made.forked.close()


@contextlib.contextmanager
def environment_of_harness(
    name: str, *requirements: str, clients: tuple[str, ...] = (),
    without_dependencies: tuple[str, ...] = (), loaded: tuple[str, ...] = (),
) -> Iterator[Environment]:  # fmt: skip
    """A virtual environment with a harness of PyPI as it was on a day, and wheels of clients.

    It is kept with its compiled modules until a requirement or a file of a client changes: to
    install and compile a harness took longer than its tests. Its programs find the modules of
    `loaded` loaded, and work in a new directory.
    """
    _skip_without_registry()
    mark = _mark(*requirements, *without_dependencies, clients=clients)
    home = KEPT / f"{name}-{mark}"
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests run in several processes
        if not (home / "whole").is_file():
            for old in KEPT.glob(f"{name}-*"):
                shutil.rmtree(old)
            _install(home, requirements, clients, without_dependencies)
            (home / "whole").touch()
    with tempfile.TemporaryDirectory(prefix="podium-clients-") as directory:
        made = Environment(ForkedPython(home / "bin" / "python", *loaded), work=Path(directory))
        yield made
        made.forked.close()


def _skip_without_registry() -> None:
    if os.environ.get(WITHOUT_REGISTRY) == "1":
        pytest.skip(f"NOT TESTED with packages of PyPI, because {WITHOUT_REGISTRY}=1")


def _mark(*requirements: str, clients: tuple[str, ...]) -> str:
    """A digest of all that decides what is installed."""
    digest = hashlib.sha256("\n".join([sys.version, DAY, *requirements]).encode())
    sources = [path for client in clients for path in (ROOT / "clients" / client).rglob("*")]
    for path in [*map(Path, requirements), *sorted(sources)]:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"\n{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _install(
    home: Path, requirements: tuple[str, ...], clients: tuple[str, ...],
    without_dependencies: tuple[str, ...],
) -> None:  # fmt: skip
    """Make the environment; packages that are newer than DAY are not installed."""
    venv.create(home, with_pip=False, symlinks=True)
    with tempfile.TemporaryDirectory(prefix="podium-clients-") as folder:
        wheels = [str(build_wheel(client, Path(folder))) for client in clients]
        python = str(home / "bin" / "python")
        install = [UV, "pip", "install", "-q", "--system-certs", "--python", python]
        for packages, options in (
            ([*requirements, *wheels], ["--exclude-newer", DAY]),
            (without_dependencies, ["--no-deps", "--python-version", "3.13"]),
        ):
            if packages:
                done = subprocess.run(
                    [*install, *options, *packages], capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stderr


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """One server, on SQLite: a harness sees no difference to PostgreSQL."""
    started = PodiumServer(tmp_path_factory.mktemp("packages") / "data", grading_seconds=20).start()
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="package")
def inspect_environment() -> Iterator[Environment]:
    """Inspect AI with podium-inspect."""
    with environment_of_harness(
        "inspect", INSPECT_AI, "trio",
        clients=("podium-client", "podium-inspect"), loaded=OF_INSPECT,
    ) as made:  # fmt: skip
        yield made
