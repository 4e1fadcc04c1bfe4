"""Environments with packages of PyPI, which are the harnesses themselves; one server, on SQLite."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import UV, Environment, build_wheel
from tests.forked_python import ForkedPython
from tests.server import PodiumServer

INSPECT_AI = "inspect-ai==0.3.285"
OF_INSPECT = (
    "inspect_ai",
    "inspect_ai._cli.main",
    "httpx",
    "trio",
)
DAY = "2026-11-15"  # packages of PyPI that are newer are not installed
WITHOUT_REGISTRY = "PODIUM_TEST_WITHOUT_REGISTRY"
# They run in environments of their own, and import packages that are not here.
collect_ignore = ["harbor_driver.py", "inspect_driver.py"]


@contextlib.contextmanager
def environment_from_registry(
    *requirements: str, clients: tuple[str, ...] = (), without_dependencies: tuple[str, ...] = (),
    loaded: tuple[str, ...] = (),
) -> Iterator[Environment]:  # fmt: skip
    """A virtual environment with packages of PyPI as they were on a day, and wheels of clients.

    Its programs find the modules of `loaded` loaded.

    It lies where temporary files do, not in memory as what tests write, and is removed at the end.
    """
    if os.environ.get(WITHOUT_REGISTRY) == "1":
        pytest.skip(f"NOT TESTED with packages of PyPI, because {WITHOUT_REGISTRY}=1")
    with tempfile.TemporaryDirectory(prefix="podium-clients-") as folder:
        home = Path(folder) / "environment"
        venv.create(home, with_pip=False, symlinks=True)
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
        made = Environment(ForkedPython(home / "bin" / "python", *loaded))
        yield made
        made.forked.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """One server, on SQLite: a harness sees no difference to PostgreSQL."""
    started = PodiumServer(tmp_path_factory.mktemp("packages") / "data", grading_seconds=20).start()
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="session")
def inspect_environment() -> Iterator[Environment]:
    """Inspect AI with podium-inspect."""
    with environment_from_registry(
        INSPECT_AI, "trio", clients=("podium-client", "podium-inspect"), loaded=OF_INSPECT
    ) as made:
        yield made
