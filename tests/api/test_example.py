"""The example in examples/ runs against a real server and draws its picture."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from tests.api.conftest import Podium
from tests.grading_reports import ROOT, random_report, suites


def test_two_experiments_are_drawn(podium: Podium, tmp_path: Path) -> None:
    shutil.copy(
        ROOT / "competitions" / "suites.toml", podium.server.environment["PODIUM_COMPETITIONS_DIR"]
    )
    names = [podium.experiment(), podium.experiment()]
    for number, name in enumerate(names):
        for seed in range(2):
            made = random_report(suites()["mle-bench"], random.Random(10 * number + seed))
            path = f"/v1/experiments/{name}/grading-reports?seed={seed}"
            assert podium.admin.post(path, json=made).status_code == 201
    key = podium.researcher_key()
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "two_experiments.py", *names,
         "--output", tmp_path / "picture"],
        env={**os.environ, "PODIUM_URL": podium.server.url, "PODIUM_KEY": key},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "95 % interval" in done.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert "vega" in (tmp_path / "picture.html").read_text()
