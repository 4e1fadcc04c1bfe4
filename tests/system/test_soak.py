"""The benchmark that takes an hour runs: here for three seconds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import app

ROOT = Path(app.__file__).parents[1]


def test_the_soak_measures_every_kind_of_request_without_an_error() -> None:
    command = [sys.executable, "-m", "benchmarks", "soak", "--minutes", "0.05"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "errors: 0\n" in done.stdout
    windows = re.findall(r"^ +(\d) .*", done.stdout, re.MULTILINE)
    assert windows == ["1", "2", "3", "4", "5"]
    kinds = re.findall(r"^(\S+): last two windows", done.stdout, re.MULTILINE)
    assert {"submit", "submit+wait", "validate", "read"} <= set(kinds)
