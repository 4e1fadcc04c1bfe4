"""A file is graded with a competition folder alone: no database, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import BadCompetition, NeedsData, TakesNoSubmissions
from app.graders.messages.results import GraderFault, Rejected
from app.grading.graded import Graded
from app.services.grading.grade_folder import grade_with_folder
from app.settings import Settings
from tests.factories import good_submission, write_competition, write_submission

MEASURED = """title = "Speed"
version = 1
[metric]
name = "run_seconds"
measured = true
unit = "s"
harness = "mlagentbench"
higher_is_better = false
[baseline]
score = 10.0
source = "a first run"
"""
Files = Callable[[], set[str]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", graders=1)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """The names of the temporary files of this process."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return lambda: {one.name for one in place.iterdir()}


def test_the_grade_is_a_servers_and_the_folder_is_not_changed(
    settings: Settings, temporary: Files, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny", metric="mean_absolute_error")
    file = write_submission(tmp_path / "mine.csv", good_submission(folder, shift=0.5))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    competition, grade = grade_with_folder(settings, folder, file)

    assert competition.slug == "tiny"
    assert isinstance(grade, Graded)
    assert grade.score == pytest.approx(0.5)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert temporary() == set()
    assert not settings.data_dir.exists()


def test_a_path_may_be_relative(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_competition(tmp_path / "tiny")
    write_submission(tmp_path / "mine.csv", good_submission(folder))
    monkeypatch.chdir(tmp_path)

    _, grade = grade_with_folder(settings, Path("tiny"), Path("mine.csv"))

    assert isinstance(grade, Graded)


def test_a_file_with_mistakes_is_rejected(settings: Settings, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny")
    file = write_submission(tmp_path / "mine.csv", b"id,target\nr1,1\n")

    _, grade = grade_with_folder(settings, folder, file)

    assert isinstance(grade, Rejected)
    assert [one.code.value for one in grade.verdict.violations] == ["row_count", "missing_id"]


def test_whoever_has_the_answers_reads_why_a_metric_py_failed(
    settings: Settings, tmp_path: Path
) -> None:
    raises = "def score(answers, submission):\n    raise ValueError('seen by the admin')\n"
    folder = write_competition(tmp_path / "tiny", metric_py=raises)
    file = write_submission(tmp_path / "mine.csv", good_submission(folder))

    _, fault = grade_with_folder(settings, folder, file)

    assert isinstance(fault, GraderFault)
    assert "seen by the admin" in fault.place


def test_a_folder_without_answers_grades_nothing(
    settings: Settings, temporary: Files, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny")
    file = write_submission(tmp_path / "mine.csv", good_submission(folder))
    (folder / "private/answers.csv").unlink()

    with pytest.raises(NeedsData, match=r"has no private/answers\.csv"):
        grade_with_folder(settings, folder, file)
    assert temporary() == set()


def test_a_result_that_is_measured_is_in_no_file(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "speed"
    folder.mkdir()
    (folder / "competition.toml").write_text(MEASURED)
    (folder / "description.md").write_text("Be fast.")

    with pytest.raises(TakesNoSubmissions, match="its run_seconds is measured by a harness"):
        grade_with_folder(settings, folder, tmp_path / "mine.csv")


def test_all_mistakes_of_a_folder_are_told(settings: Settings, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny", toml="[nonsense]\na = 1\n")
    file = write_submission(tmp_path / "mine.csv", good_submission(folder))

    with pytest.raises(BadCompetition) as caught:
        grade_with_folder(settings, folder, file)

    assert [one["key"] for one in caught.value.problems] == ["nonsense"]
