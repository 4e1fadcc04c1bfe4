"""An admin who has the answers sees why a metric.py fails; a server never says it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command
from tests.factories import good_submission, write_competition

METRIC = """def score(answers, submission):
    if (submission["target"] > 1000).any():
        raise ValueError(f"nothing is worth {submission['target'].max()}")
    return float((answers["target"] - submission["target"]).abs().mean())
"""
FAILING = "def score(answers, submission):\n    return answers['no such column'].mean()\n"


def test_check_shows_the_exceptions_text(podium: Command, tmp_path: Path) -> None:
    write_competition(tmp_path / "competitions" / "own", metric_py=FAILING)

    ran = podium("check", "own")

    assert ran.returncode == 1
    assert "failed: KeyError at metric.py:2: 'no such column'" in ran.stderr


def test_grade_shows_the_exceptions_text(podium: Command, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "competitions" / "own", metric_py=METRIC)
    (tmp_path / "huge.csv").write_bytes(good_submission(folder, shift=5000.0))

    by_folder = podium("grade", folder, tmp_path / "huge.csv")
    assert podium("import", "folder", folder).returncode == 0
    by_name = podium("grade", "own", tmp_path / "huge.csv")

    for ran in (by_folder, by_name):
        assert ran.returncode == 1
        assert "ValueError at metric.py:3: nothing is worth 50" in ran.stderr


def test_answers_with_other_ids_are_shown_beside_the_samples(
    podium: Command, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "competitions" / "own")
    answers = folder / "private" / "answers.csv"
    answers.write_text(answers.read_text().replace("r1,", "x1,"))

    ran = podium("check", "own")

    assert ran.returncode == 1
    assert "this file has 'x1'" in ran.stderr
    assert "the sample submission has 'r1'" in ran.stderr
    assert "Either of the two files may be the wrong one" in ran.stderr
