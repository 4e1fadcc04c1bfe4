"""The `podium` command with Podium's own competitions, and a data directory of the test's own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.forkserver import run_podium
from tests.grading_reports import ROOT


class Commands:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
            "PODIUM_DATA_DIR": str(home / "data"),
            "PODIUM_COMPETITIONS_DIR": str(ROOT / "competitions"),
        }

    def __call__(self, *words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = run_podium(
            words,
            env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done


@pytest.fixture
def podium(tmp_path: Path) -> Commands:
    return Commands(tmp_path)
