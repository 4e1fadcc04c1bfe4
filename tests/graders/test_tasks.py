import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.domain.medals import Medal
from app.domain.verdict import ViolationCode, WarningCode
from app.graders.messages.results import GraderFault, Rejected
from app.graders.process import GraderProcess, Job
from app.grading.graded import Graded
from tests.factories import (
    good_submission,
    sample_submission,
    write_competition,
    write_submission,
)
from tests.graders.pool import version_at


def inspected(pool, folder: Path):
    return pool.check_competition(folder).result(60)


def messages(inspection) -> str:
    return "\n".join(f"{p['file']}: {p['key']}: {p['message']}" for p in inspection.problems)


def test_a_submission_gets_its_scores_and_its_place(pool, tmp_path, tiny):
    file = write_submission(tmp_path / "s.csv", good_submission(tiny, shift=0.07))
    graded = pool.grade(tiny, file).result(30)
    assert isinstance(graded, Graded)
    assert graded.score == pytest.approx(0.07)
    assert graded.public_score == pytest.approx(0.07)
    assert (graded.standing.better, graded.standing.teams) == (1, 12)
    assert graded.standing.medal is Medal.SILVER


def test_the_lines_of_the_toml_decide_where_there_is_no_board(pool, tmp_path):
    toml = '[leaderboard]\nsource = "a test"\nteams = 100\ngold = 0.1\nsilver = 0.2\nbronze = 0.3\n'
    folder = write_competition(tmp_path / "lines" / "v1", leaderboard=None, toml=toml)
    file = write_submission(tmp_path / "s.csv", good_submission(folder, shift=0.15))
    standing = pool.grade(folder, file).result(30).standing
    assert (standing.medal, standing.better) == (Medal.SILVER, None)


def test_a_metric_may_change_what_it_prepared(pool, tmp_path):
    """As those of Kaggle do. An import scores two files, and each submission has its own."""
    source = (
        "def prepare(answers):\n"
        "    return answers.sort_values('id')\n\n\n"
        "def score(truth, submission):\n"
        "    del truth['id'], submission['id']\n"
        "    return float((truth['target'] - submission['target']).abs().mean())\n"
    )
    folder = write_competition(tmp_path / "own" / "v1", metric_py=source, leaderboard=None)
    file = write_submission(tmp_path / "s.csv", good_submission(folder))

    found = inspected(pool, folder)

    assert pool.grade(folder, file).result(60).score == 0.0
    assert messages(found) == ""
    assert found.answers_score == 0.0


def test_an_import_keeps_one_result_of_prepare_for_each_part(pool, tmp_path):
    """With two it needs twice the memory of a grading, and refused what could be graded."""
    source = (
        "import weakref\n\nmade = []\n\n\n"
        "def prepare(answers):\n"
        "    assert sum(each() is not None for each in made) < 2\n"
        "    found = answers['target'].to_numpy(copy=True)\n"
        "    made.append(weakref.ref(found))\n"
        "    return found\n\n\n"
        "def score(truth, submission):\n"
        "    return float((submission['target'] - truth).abs().mean())\n"
    )
    folder = write_competition(tmp_path / "own" / "v1", metric_py=source, leaderboard=None)

    found = inspected(pool, folder)

    assert messages(found) == ""
    assert found.answers_score == 0.0


def test_a_bad_file_is_refused_with_all_its_violations(pool, tmp_path, tiny):
    file = write_submission(tmp_path / "s.csv", b"id,target\nr1,x\nr1,nan\n")
    refused = pool.grade(tiny, file).result(30)
    assert isinstance(refused, Rejected)
    codes = {violation.code for violation in refused.verdict.violations}
    assert {
        ViolationCode.ROW_COUNT,
        ViolationCode.DUPLICATE_ID,
        ViolationCode.NOT_A_NUMBER,
    } <= codes


def test_validating_finds_what_grading_finds(pool, tmp_path, tiny):
    file = write_submission(tmp_path / "s.csv", b"id,target\nr1,x\nr1,nan\n")
    assert pool.validate(tiny, file).result(30) == pool.grade(tiny, file).result(30).verdict


def test_validating_needs_no_answers(pool, tmp_path, tiny):
    file = write_submission(
        tmp_path / "s.csv", good_submission(tiny).replace(b"target", b"target,extra", 1)
    )
    good = write_submission(tmp_path / "good.csv", good_submission(tiny))
    shutil.rmtree(tiny / "private")
    (tiny / "leaderboard.csv").unlink()
    assert pool.validate(tiny, good).result(30).is_valid
    assert not pool.validate(tiny, file).result(30).is_valid
    assert pool.grade(tiny, good).result(30) == GraderFault("competition", "private/answers.csv")


def test_the_validating_process_grades_nothing(tiny, tiny_file):
    # The pool itself sends no such job.
    with contextlib.ExitStack() as started:
        process = GraderProcess("validate", memory_mb=512, cache_mb=64)
        started.callback(process.kill)
        fault = process.ask(Job("grade", version_at(tiny), tiny_file), 30).answer.result()
    assert isinstance(fault, GraderFault)
    assert fault.kind == "internal"


def test_what_is_harmless_is_said_by_both(pool, tmp_path, tiny):
    lines = good_submission(tiny).decode().splitlines()
    text = "\n".join([lines[0] + ",extra", *(line + ",1" for line in lines[1:])]) + "\n"
    file = write_submission(tmp_path / "s.csv", text.encode())
    warnings = pool.grade(tiny, file).result(30).warnings
    assert [warning.code for warning in warnings] == [WarningCode.UNKNOWN_COLUMN]
    assert pool.validate(tiny, file).result(30).warnings == warnings


def test_a_file_that_is_not_there_is_our_fault(pool, tmp_path, tiny):
    fault = pool.grade(tiny, tmp_path / "nowhere.csv").result(30)
    assert fault.kind == "storage"
    assert "nowhere" not in fault.place


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_not_a_regular_file_is_not_waited_for(
    pool, tmp_path, tiny, make: Callable[[Path], None]
) -> None:
    file = tmp_path / "s.csv"
    make(file)
    assert pool.grade(tiny, file).result(30).kind == "storage"


@pytest.mark.parametrize("kind", ["number", "integer", "probability", "boolean", "label"])
@pytest.mark.parametrize("usage", [None, ("Public", "Private"), ("Ignored", "Private")])
def test_a_good_competition_has_no_problems(pool, tmp_path, kind, usage):
    folder = write_competition(tmp_path / "good" / "v1", kind=kind, usage=usage)
    inspection = inspected(pool, folder)
    assert inspection.problems == ()
    assert inspection.rows == 20
    best = 1.0 if kind in {"boolean", "label"} else 0.0
    assert inspection.answers_score == pytest.approx(best, abs=1e-12)
    assert inspection.sample_verdict.is_valid
    assert inspection.sample_score is not None


def test_a_competition_with_its_own_metric_is_tried_with_it(pool, tmp_path):
    text = "def score(answers, submission):\n    return 0.25\n"
    folder = write_competition(tmp_path / "own" / "v1", metric_py=text)
    assert inspected(pool, folder).answers_score == 0.25


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (("Private",), (20, None, None)),
        (("Private", "Public"), (10, 10, None)),
        (("Private", "Search"), (10, None, 10)),
        (("Private", "Search", "Public", "Ignored"), (5, 5, 5)),
    ],
)
def test_a_metric_py_gets_each_part_of_the_answers(pool, tmp_path, usage, counts):
    text = "def score(answers, submission):\n    return float(len(answers))\n"
    folder = write_competition(tmp_path / "parts" / "v1", metric_py=text, usage=usage)
    file = write_submission(tmp_path / "s.csv", good_submission(folder))
    found = pool.grade(folder, file).result(30)
    assert (found.score, found.public_score, found.search_score) == counts


def test_nothing_of_an_inspected_competition_is_kept(pool, tmp_path):
    folder = write_competition(tmp_path / "twice" / "v1", seed=1)
    inspected(pool, folder)
    inspected(pool, folder)
    write_competition(folder, seed=2)
    file = write_submission(tmp_path / "s.csv", good_submission(folder))
    assert pool.grade(folder, file).result(30).score == 0.0


def break_toml(folder: Path) -> None:
    (folder / "competition.toml").write_text("title = [")


def break_sample_ids(folder: Path) -> None:
    sample = sample_submission(folder).replace(b"r1,", b"other,", 1)
    (folder / "public" / "sample_submission.csv").write_bytes(sample)


def break_sample_value(folder: Path) -> None:
    sample = sample_submission(folder).replace(b"r1,0.0", b"r1,many", 1)
    (folder / "public" / "sample_submission.csv").write_bytes(sample)


def remove_sample(folder: Path) -> None:
    (folder / "public" / "sample_submission.csv").unlink()


def remove_answers(folder: Path) -> None:
    (folder / "private" / "answers.csv").unlink()


def break_answers(folder: Path) -> None:
    file = folder / "private" / "answers.csv"
    file.write_text(file.read_text().replace("r1,", "r1,secret", 1))


def break_usage(folder: Path) -> None:
    file = folder / "private" / "answers.csv"
    file.write_text(file.read_text().replace("Private", "Hidden"))


def break_board(folder: Path) -> None:
    (folder / "leaderboard.csv").write_text("place\n1\n")


def break_metric(folder: Path) -> None:
    (folder / "metric.py").write_text("def score(answers, submission):\n    return answers['x']\n")


def break_metric_syntax(folder: Path) -> None:
    (folder / "metric.py").write_text("def score(")


def turn_metric_round(folder: Path) -> None:
    (folder / "metric.py").write_text(
        "def score(answers, submission):\n"
        "    return -float((answers['target'] - submission['target']).abs().sum())\n"
    )


@pytest.mark.parametrize(
    ("mistake", "file"),
    [
        (break_toml, "competition.toml"),
        (break_sample_ids, "private/answers.csv"),
        (break_sample_value, "public/sample_submission.csv"),
        (remove_sample, "public/sample_submission.csv"),
        (remove_answers, "private/answers.csv"),
        (break_answers, "private/answers.csv"),
        (break_usage, "private/answers.csv"),
        (break_board, "leaderboard.csv"),
        (break_metric, "metric.py"),
        (break_metric_syntax, "metric.py"),
        (turn_metric_round, "metric.py"),
    ],
)
def test_a_mistake_is_found_and_named_by_its_file(pool, tmp_path, mistake, file):
    folder = write_competition(tmp_path / "bad" / "v1")
    mistake(folder)
    inspection = inspected(pool, folder)
    assert file in {problem["file"] for problem in inspection.problems}
    assert "secret" not in messages(inspection).lower()


def test_all_mistakes_are_found_at_once(pool, tmp_path):
    folder = write_competition(tmp_path / "bad" / "v1")
    for mistake in (break_sample_value, break_answers, break_board, break_metric_syntax):
        mistake(folder)
    files = {problem["file"] for problem in inspected(pool, folder).problems}
    assert files == {
        "public/sample_submission.csv", "private/answers.csv", "leaderboard.csv", "metric.py",
    }  # fmt: skip


def test_a_metric_that_does_not_fit_its_columns_is_a_problem(pool, tmp_path):
    folder = write_competition(
        tmp_path / "bad" / "v1", kind="number", metric="root_mean_squared_log_error"
    )
    assert "declare min" in messages(inspected(pool, folder))


@pytest.mark.parametrize(("kind", "is_refused"), [("integer", True), ("number", False)])
@pytest.mark.parametrize("sign", ["", "-"])
def test_whole_numbers_that_are_no_doubles_are_a_problem(pool, tmp_path, kind, is_refused, sign):
    folder = write_competition(tmp_path / "large" / "v1", kind=kind, leaderboard=None)
    file = folder / "private" / "answers.csv"
    *rows, last = file.read_text().splitlines()
    name, _, usage = last.split(",")
    for answer, refused in ((2**53 - 1, False), (2**53 + 1, is_refused)):
        file.write_text("\n".join([*rows, f"{name},{sign}{answer},{usage}", ""]))
        found = inspected(pool, folder).problems
        assert [one["key"] for one in found] == ["submission.columns.target.kind"] * refused
        assert str(answer) not in str(found)


def test_a_metric_that_does_not_exist_is_a_problem(pool, tmp_path):
    folder = write_competition(tmp_path / "bad" / "v1", metric="root_mean_squred_error")
    assert "root_mean_squared_error" in messages(inspected(pool, folder))


def rewrite_answers(folder: Path, old: str, new: str) -> None:
    file = folder / "private" / "answers.csv"
    file.write_text(file.read_text().replace(old, new))


def test_answers_that_do_not_score_perfectly_are_a_problem(pool, tmp_path):
    folder = write_competition(tmp_path / "bad" / "v1", kind="probability", metric="log_loss")
    rewrite_answers(folder, ",1,", ",0.5,")
    assert inspected(pool, folder).problems != ()


def test_answers_for_which_the_metric_is_not_defined_are_a_problem_in_words(pool, tmp_path):
    folder = write_competition(tmp_path / "bad" / "v1", kind="probability", metric="roc_auc_score")
    assert inspected(pool, folder).problems == ()
    rewrite_answers(folder, ",1,", ",0,")
    inspection = inspected(pool, folder)
    assert "not defined for these answers" in messages(inspection)
    assert "ValueError" not in messages(inspection)


def test_inspecting_a_metric_that_dies_is_a_fault(pool, tmp_path):
    text = "import os\ndef score(answers, submission):\n    os._exit(0)\n"
    folder = write_competition(tmp_path / "own" / "v1", metric_py=text)
    assert inspected(pool, folder) == GraderFault("crashed", "exit status 0")
