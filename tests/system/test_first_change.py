"""A contributor's walk: the steps of CONTRIBUTING.md, in a copy of the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "data", "build"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository, with the packages that are installed here."""
    copy = tmp_path / "podium"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
    (copy / ".venv").mkdir()
    (copy / ".venv" / "bin").symlink_to(ROOT / ".venv" / "bin")
    # Newer than the copied lock files, so that make installs nothing into these packages.
    for mark in ("installed", "installed-dev"):
        (copy / ".venv" / mark).touch()
    return copy


def run(checkout: Path, command: str) -> subprocess.CompletedProcess[str]:
    # The packages belong to the repository, so its `app` is found unless the copy comes first.
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(checkout.parent), "PYTHONPATH": str(checkout),
    }  # fmt: skip
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=checkout, env=environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def add(file: Path, text: str) -> None:
    file.write_text(f"{file.read_text().rstrip()}\n\n\n{text}")


def test_a_metric_is_added_as_the_page_says(checkout: Path) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    section = page[page.index("## A first change") : page.index("## Layers")]
    blocks = BLOCK.findall(section)
    assert [language for language, _ in blocks] == ["python", "markdown", "python", "sh"]
    function, description, test, commands = (text for _, text in blocks)

    add(checkout / "app/metrics/regression.py", function)
    add(checkout / "tests/metrics/test_regression.py", test)
    undescribed = run(checkout, ".venv/bin/pytest tests/metrics/test_docs.py -k page_has")
    described = checkout / "docs" / "metrics.md"
    described.write_text(described.read_text().replace("## Lists", f"{description}\n## Lists", 1))
    done = run(checkout, commands)

    assert undescribed.returncode == 1, undescribed.stdout
    assert "mean_pinball_loss" in undescribed.stdout
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
