"""A backup to change and to restore."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from tests.factories import write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a Podium with one competition, and the competition's answers in it."""
    home = tmp_path_factory.mktemp("whole")
    folder = write_competition(home / "folders" / "tiny")
    origin = PodiumServer(home / "origin")
    command(origin, "import", "folder", str(folder))
    said = command(origin, "backup", str(home / "backup"))
    assert "6 files" in said
    assert "6 files" in command(origin, "restore", "--check", str(home / "backup"))
    assert (home / "backup").stat().st_mode & 0o077 == 0
    return home / "backup"


def command(server: PodiumServer, *arguments: str) -> str:
    return run_podium(
        arguments,
        env=server.environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


@pytest.fixture
def copy(complete: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(complete, tmp_path / "backup"))


def settings(data: Path) -> Settings:
    return Settings(data_dir=data, database_url="", blobs_url="")


def silent(step: str, done: int, total: int) -> None:
    assert 0 <= done <= total, step


def change_manifest(backup: Path, **to: Any) -> None:
    file = backup / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **to}))
