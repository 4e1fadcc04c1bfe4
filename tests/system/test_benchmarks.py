"""Benchmarks that few people run still run: here for seconds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import app

ROOT = Path(app.__file__).parents[1]


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_is_printed_and_nothing_is_measured() -> None:
    for arguments in (["--help"], ["http", "--help"], ["mutations", "-h"]):
        assert "`soak` by `--minutes N`" in run(*arguments)
    assert "--minutes MINUTES" in run("soak", "--help")


def test_a_family_of_metrics_is_graded_beside_the_reference_and_its_memory_measured() -> None:
    """The benchmark itself compares the two scores."""
    told = run("families", "nomad2018-predict-transparent-conductors")
    assert re.search(r"^nomad2018\S+ .*\d", told, re.MULTILINE)
    assert "geometric mean" in told


def test_the_soak_measures_every_kind_of_request_without_an_error() -> None:
    told = run("soak", "--minutes", "0.05")
    assert "errors: 0\n" in told
    windows = re.findall(r"^ +(\d) .*", told, re.MULTILINE)
    assert windows == ["1", "2", "3", "4", "5"]
    kinds = re.findall(r"^(\S+): last two windows", told, re.MULTILINE)
    assert {"all", "submit", "submit+wait", "validate", "read"} <= set(kinds)
