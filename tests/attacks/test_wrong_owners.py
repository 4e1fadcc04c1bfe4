"""Directories of Podium's that belong to another user, as after a command of root's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.storage.database import migrations
from app.storage.database.revisions import is_upgraded
from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.server import PodiumServer

# Root without these is refused what its user is refused, and still finds the tests' Python.
BOUND_BY_MODES = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
OTHER_USER = 12345


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def serve(server: PodiumServer) -> str:
    """What a server says that must not start."""
    done = subprocess.run(
        [*BOUND_BY_MODES, sys.executable, "-m", "app.cli", "serve", "--port", "0"],
        env=server.environment, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a directory to another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="this machine has no setpriv")
@pytest.mark.parametrize("name", ["competitions", "blobs/journals"])
def test_a_start_refuses_a_directory_of_another_user(podium: Podium, name: str) -> None:
    """It was ready, and each small file, or each file of all competitions, was a 500."""
    folder = podium.competition()
    podium.run(folder).submit(good_submission(folder))
    podium.server.stop()
    directory: Path = podium.server.data_dir / name
    directory.chmod(0o700)
    os.chown(directory, OTHER_USER, OTHER_USER)

    assert f"'{directory}' is Podium's, and this user cannot" in serve(podium.server)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="this machine has no setpriv")
def test_the_lock_of_an_upgrade_by_another_user_keeps_no_later_one(tmp_path: Path) -> None:
    """`podium db upgrade` as root left a lock that the server could not open a version later."""
    server = PodiumServer(tmp_path / "data", migrates=True)
    server.data_dir.mkdir()
    database = server.data_dir / "podium.db"
    migrations.upgrade(f"sqlite:///{database}", "0024")
    lock = Path(f"{database}.migrating")
    lock.chmod(0o644)
    os.chown(lock, OTHER_USER, OTHER_USER)

    done = subprocess.run(
        [*BOUND_BY_MODES, sys.executable, "-m", "app.cli", "db", "upgrade"],
        env=server.environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert is_upgraded(f"sqlite:///{database}")
