"""`podium grade`: a file is graded or rejected, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.factories import good_submission, write_competition, write_submission


def test_a_good_file_is_graded_without_a_server(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    podium("import", "folder", tiny)
    file = write_submission(tmp_path / "s.csv", good_submission(tiny, shift=0.12))

    done = podium("grade", "tiny", file)

    assert done.returncode == 0, done.stderr
    grade = json.loads(done.stdout)
    assert grade["score"] == pytest.approx(0.12)
    assert (grade["state"], grade["medal"], grade["better"]) == ("graded", "bronze", 2)


def test_a_bad_file_ends_with_3_and_every_violation(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    podium("import", "folder", tiny)
    file = write_submission(tmp_path / "s.csv", b"id,target\nr1,abc\nr2,inf\n")

    done = podium("grade", "tiny", file, "--json")  # which other commands need for JSON

    assert done.returncode == 3
    problem = json.loads(done.stdout)["problem"]
    assert {v["code"] for v in problem["violations"]} == {
        "row_count", "missing_id", "not_a_number", "not_finite"
    }  # fmt: skip


def test_grading_for_a_competition_that_is_not_here_says_what_to_do(
    podium: Command, tmp_path: Path
) -> None:
    file = write_submission(tmp_path / "s.csv", b"id,target\n")

    done = podium("grade", "nowhere", file)

    assert done.returncode == 1
    assert "'nowhere'" in done.stderr
    assert "import it: podium import folder PATH" in " ".join(done.stderr.split())
    assert "the path of the folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_metric_that_breaks_is_our_fault_not_the_files(podium: Command, tmp_path: Path) -> None:
    source = "def score(answers, submission):\n    return 0.0\n"
    folder = write_competition(tmp_path / "odd", metric="my_error", metric_py=source)
    assert podium("import", "folder", folder).returncode == 0
    broken = "def score(answers, submission):\n    return 1 / (submission['target'].sum() * 0)\n"
    (folder / "metric.py").write_text(broken)

    done = podium("import", "folder", folder)

    assert done.returncode == 1
    assert "metric.py" in done.stderr
