"""The example with AIDE runs as it is written: the real agent, a scripted model, a medal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import ROOT, Environment
from tests.clients.packages.conftest import environment_of_harness
from tests.podium_on_path import PodiumOnPath

EXAMPLE = ROOT / "examples" / "aide"
AIDE = re.search(r"aideml==\S+", (EXAMPLE / "run.sh").read_text())


@pytest.fixture(scope="module")
def aide() -> Iterator[Environment]:
    """AIDE's environment, as run.sh makes it, but by uv."""
    assert AIDE is not None
    with environment_of_harness(
        "aide", "-r", str(EXAMPLE / "requirements.txt"), without_dependencies=(AIDE[0],)
    ) as made:
        yield made


def test_aide_searches_three_steps_and_wins_a_medal(aide: Environment, tmp_path: Path) -> None:
    programs, scratch = tmp_path / "bin", tmp_path / "scratch"
    programs.mkdir()
    scratch.mkdir()
    (programs / "python").symlink_to(sys.executable)
    with PodiumOnPath(programs / "podium", forks_all=True):
        done = subprocess.run(
            [EXAMPLE / "run.sh"],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
                "AIDE_PYTHON": str(aide.forked.python), "PODIUM_BIN": str(programs),
                "TMPDIR": str(scratch),
            },
            capture_output=True, text=True, check=False, timeout=500,
        )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    draft, repaired, improved = re.findall(r"AIDE's step \d: (\S+)", done.stdout)
    assert draft == "KeyError"  # the bug of the first reply
    assert float(improved) < float(repaired)
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("{")]
    grade = json.loads(line)["grade"]
    assert grade["medal"] == "gold"
    assert grade["score"] == pytest.approx(0.3132, abs=0.01)
    assert "== what a researcher sees" in done.stdout
    assert list(scratch.iterdir()) == []  # it leaves nothing behind
