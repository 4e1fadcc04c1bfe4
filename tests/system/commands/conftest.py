"""The `podium` command with Podium's own competitions, and a data directory of the test's own."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.forkserver import run_podium
from tests.grading_reports import ROOT, random_report


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

    def import_report(
        self, experiment: str, slugs: Sequence[str], *, draw: int, seed: int = 0
    ) -> None:
        """Import a grading report about these competitions; `draw` decides its results."""
        file = self.home / "report.json"
        file.write_text(json.dumps(random_report(slugs, random.Random(draw))))
        self("import", "grading-report", experiment, file, "--seed", seed)


@pytest.fixture
def podium(tmp_path: Path) -> Commands:
    return Commands(tmp_path)
