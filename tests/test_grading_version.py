"""The grading version changes with the code that decides scores, and with nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import app
from app.grading_version import DECISIVE_PACKAGES, grading_version, source_digest

PACKAGE = Path(app.__file__).parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in DECISIVE_PACKAGES:
        shutil.copytree(
            PACKAGE / name, tmp_path / "app" / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path / "app"


def test_the_same_sources_elsewhere_have_the_same_digest(copy: Path) -> None:
    assert grading_version().endswith(f"+{source_digest(copy)}")


@pytest.mark.parametrize("file", ["metrics/regression.py", "grading/check.py", "domain/medals.py"])
def test_one_changed_byte_is_another_version(copy: Path, file: str) -> None:
    before = source_digest(copy)
    (copy / file).write_bytes((copy / file).read_bytes() + b"\n")

    assert source_digest(copy) != before


def test_a_renamed_file_is_another_version(copy: Path) -> None:
    before = source_digest(copy)
    (copy / "metrics" / "text.py").rename(copy / "metrics" / "texts.py")

    assert source_digest(copy) != before


def test_other_files_are_not_in_it(copy: Path) -> None:
    before = source_digest(copy)
    (copy / "metrics" / "notes.txt").write_text("nothing that grades")

    assert source_digest(copy) == before
