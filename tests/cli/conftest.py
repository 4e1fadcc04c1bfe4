"""The `podium` command as a user runs it: a process, its output, its exit status."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.factories import write_competition
from tests.forkserver import run_podium

Done = subprocess.CompletedProcess[str]
Command = Callable[..., Done]


@pytest.fixture
def podium(tmp_path: Path) -> Command:
    """Runs `podium` with a data directory of the test's own."""
    competitions = tmp_path / "competitions"
    competitions.mkdir()

    def run(*arguments: object) -> Done:
        return run_podium(
            arguments,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
                "PODIUM_DATA_DIR": str(tmp_path / "data"),
                "PODIUM_COMPETITIONS_DIR": str(competitions),
                "COLUMNS": "160",
            },
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    return run


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A competition folder where `podium check` looks."""
    return write_competition(tmp_path / "competitions" / "tiny")
