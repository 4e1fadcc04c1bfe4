"""The grading version changes with the code that decides scores, and with nothing else."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

import app
from app.grading_version import DECISIVE_MODULES, decisive_files, grading_version, source_digest

PACKAGE = Path(app.__file__).parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for file in decisive_files(PACKAGE):
        to = tmp_path / "app" / file.relative_to(PACKAGE)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
    return tmp_path / "app"


def test_the_same_sources_elsewhere_have_the_same_digest(copy: Path) -> None:
    assert grading_version().endswith(f"+{source_digest(copy)}")


@pytest.mark.parametrize(
    "file",
    ["metrics/regression.py", "grading/check.py", "grading/ids/id_keys.py", "domain/medals.py",
     *DECISIVE_MODULES],
)  # fmt: skip
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


def test_a_deciding_file_that_is_missing_gives_no_version(copy: Path) -> None:
    (copy / DECISIVE_MODULES[0]).unlink()

    with pytest.raises(FileNotFoundError):
        source_digest(copy)


# It tries a folder before its import, and decides no score of a submission.
NOT_DECIDING = "graders/program/competition_check.py"


def test_each_module_of_graders_that_reads_answers_or_runs_a_metric_is_in_it() -> None:
    found = {
        f"graders/program/{file.name}"
        for file in (PACKAGE / "graders" / "program").glob("*.py")
        if any(one.startswith(("app.grading.", "app.metrics")) for one in imports_of(file))
    }

    assert NOT_DECIDING in found
    assert found - {NOT_DECIDING} <= set(DECISIVE_MODULES)


def imports_of(file: Path) -> set[str]:
    """The modules from which a file imports."""
    tree = ast.parse(file.read_text())
    return {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
