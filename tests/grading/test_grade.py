"""Grading: scores on the right rows, standings, and whose fault it is when there is no score."""

import dataclasses
import math
import pickle
import traceback

import numpy as np
import pytest

from app.domain.leaderboard import Leaderboard
from app.domain.verdict import Rejection
from app.errors import BadCompetition, MetricFault
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import Scorer, scorer_for
from app.metrics import METRICS
from tests.grading.make import competition, public_ids

IDS = public_ids(["a", "b", "c", "d"])
ANSWERS = b"id,x\na,1\nb,2\nc,3\nd,4\n"
MARKED = b"id,x,Usage\na,1,Public\nb,2,Private\nc,3,Ignored\nd,4,Private\n"
SUBMITTED = b"id,x\na,2\nb,2\nc,900\nd,7\n"


def graded(submission, answers=ANSWERS, board=None, source=None, columns=None):
    tiny = competition(columns or 'x = { kind = "number" }')
    return grade(
        submission, tiny, decode_answers(answers, tiny, IDS), board, scorer_for(tiny, source)
    )


def fault(source, answers=ANSWERS) -> str:
    with pytest.raises(MetricFault) as caught:
        graded(SUBMITTED, answers, source=source)
    return caught.value.detail


def test_without_usage_the_score_is_over_all_rows():
    found = graded(SUBMITTED)

    assert found.score == math.sqrt((1 + 0 + 897**2 + 9) / 4)
    assert found.public_score is None
    assert found.standing is None


def test_with_usage_private_and_public_rows_are_scored_apart_and_ignored_ones_not_at_all():
    found = graded(SUBMITTED, MARKED)

    assert found.score == math.sqrt((0 + 9) / 2)
    assert found.public_score == 1.0


def test_rows_to_search_on_are_scored_apart_and_move_no_other_score():
    found = graded(SUBMITTED, MARKED.replace(b"Ignored", b"Search"))

    assert found.search_score == 897.0
    assert (found.score, found.public_score) == (math.sqrt((0 + 9) / 2), 1.0)


def test_a_metric_py_scores_each_part():
    source = "def score(answers, submission):\n    return float(submission['x'].sum())\n"

    found = graded(SUBMITTED, MARKED.replace(b"Ignored", b"Search"), source=source)

    assert (found.score, found.public_score, found.search_score) == (9.0, 2.0, 900.0)


def test_ignored_rows_must_be_there():
    with pytest.raises(Rejection) as caught:
        graded(b"id,x\na,2\nb,2\nd,7\n", MARKED)

    codes = [v.code.value for v in caught.value.verdict.violations]
    assert codes == ["row_count", "missing_id"]


def test_the_score_alone_decides_the_standing():
    board = Leaderboard.full([0.5, 1.0, 2.0, 3.0], higher_is_better=False)
    found = graded(SUBMITTED, MARKED, board)

    assert found.standing == board.standing(found.score)
    assert found.standing.better == 3


def test_warnings_come_with_the_grade():
    found = graded(b"id,x,y\na,2,\n\nb,2,\nc,1,\nd,7,\n")

    assert [w.code.value for w in found.warnings] == ["unknown_column", "blank_lines"]


def test_a_grade_survives_pickling():
    found = graded(SUBMITTED, board=Leaderboard.full([1.0], higher_is_better=False))

    assert pickle.loads(pickle.dumps(found)) == found


def test_the_order_of_rows_and_columns_does_not_matter():
    columns = 'x = { kind = "number" }\ny = { kind = "number" }'
    random = np.random.default_rng(0)
    values = random.random((4, 2)).tolist()
    answers = b"id,x,y,Usage\na,1,2,Public\nb,2,3,Private\nc,3,4,Private\nd,4,5,Public\n"
    scores = set()
    for _ in range(10):
        order = random.permutation(4).tolist()
        rows = [f"{values[i][1]!r},{'abcd'[i]},{values[i][0]!r}" for i in order]
        found = graded("\n".join(["y,id,x", *rows]).encode(), answers, columns=columns)
        scores.add((found.score, found.public_score))

    assert len(scores) == 1


def test_answers_of_another_competition_are_refused():
    tiny, other = competition(), competition('y = { kind = "number" }')
    answers = decode_answers(ANSWERS, tiny, IDS)

    with pytest.raises(ValueError, match="not the answers of tiny"):
        grade(SUBMITTED, other, answers, None, scorer_for(other, None))


CUSTOM = """
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Weights:
    total: float


def score(answers, submission):
    assert list(answers.columns) == ["id", "x", "weight"]
    assert list(submission.columns) == ["id", "x"]
    assert (answers["id"] == submission["id"]).all()
    assert list(answers.index) == list(submission.index) == list(range(len(answers)))
    weights = answers["weight"].astype(float)
    return np.float64(((answers["x"] - submission["x"]) ** 2 * weights).sum())
"""


def test_a_custom_metric_receives_aligned_frames():
    answers = b"id,weight,x,Usage\nd,2,4,Private\na,10,1,Public\nb,1,2,Private\nc,1,3,Ignored\n"
    found = graded(b"x,id\n7,d\n2,b\n2,a\n1,c\n", answers, source=CUSTOM)

    assert (found.score, found.public_score) == (18.0, 10.0)
    assert type(found.score) is float


def test_a_custom_metric_sees_labels_as_written():
    source = "def score(a, s):\n    return float((a['x'] == s['x']).mean() + len(s['x'][1]))\n"
    columns = 'x = { kind = "label", labels = ["01", "1"] }'
    answers = b"id,x\na,01\nb,1\nc,1\nd,01\n"
    submission = b"id,x\nd,01\nc,01\nb,1\na,01\n"

    assert graded(submission, answers, source=source, columns=columns).score == 1.75


def test_a_metric_that_raises_is_at_fault_and_its_words_stay_inside():
    source = "def score(answers, submission):\n    raise ValueError(str(answers['x'].tolist()))\n"
    with pytest.raises(MetricFault) as caught:
        graded(SUBMITTED, MARKED, source=source)

    assert caught.value.detail == (
        "the metric root_mean_squared_error failed: ValueError at metric.py:2"
    )
    assert "4.0" not in "".join(traceback.format_exception(caught.value))


def test_the_line_is_the_one_in_the_metric_even_when_a_library_raises():
    source = "import numpy\n\n\ndef score(a, s):\n    return numpy.array([1]).reshape(2, 3)\n"

    assert fault(source).endswith("ValueError at metric.py:5")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "returned NoneType, not a number"),
        ("return '0.5'", "returned str, not a number"),
        ("return True", "returned bool, not a number"),
        ("return a['x']", "returned Series, not a number"),
        ("return float('nan')", "returned a number that is not finite"),
        ("return -float('inf')", "returned a number that is not finite"),
        ("return 10**400", "returned a number that is not finite"),
        ("return type('F', (float,), {'__float__': lambda _: float('nan')})(1)", "is not finite"),
        ("exit(0)", "failed: SystemExit at metric.py:2"),
        ("import sys; sys.exit('a')", "failed: SystemExit at metric.py:2"),
        ("return score(a, s)", "failed: RecursionError at metric.py:2"),
        ("return missing", "failed: NameError at metric.py:2"),
    ],
)
def test_a_metric_must_return_a_finite_number(body, words):
    assert words in fault(f"def score(a, s):\n    {body}\n")


@pytest.mark.parametrize("number", ["3", "numpy.float32(3)", "numpy.int64(3)"])
def test_a_metric_may_return_any_real_number(number):
    score = graded(SUBMITTED, source=f"import numpy\ndef score(a, s):\n    return {number}\n").score

    assert score == 3.0
    assert type(score) is float


def test_a_built_in_metric_that_is_undefined_for_the_answers_is_at_fault():
    tiny = competition('x = { kind = "probability" }', metric="roc_auc_score")
    answers = decode_answers(b"id,x\na,1\nb,1\nc,1\nd,1\n", tiny, IDS)

    with pytest.raises(MetricFault, match="the metric roc_auc_score failed: ValueError at"):
        grade(b"id,x\na,1\nb,0\nc,1\nd,1\n", tiny, answers, None, scorer_for(tiny, None))


@pytest.mark.parametrize(
    ("source", "key", "words"),
    [
        ("def score(a, s)\n    return 1\n", "line 1", "this is not Python"),
        ("import no_such_module_at_all\n", "", "ModuleNotFoundError at metric.py:1"),
        ("\nraise SystemExit\n", "", "SystemExit at metric.py:2"),
        ("scores = 1\n", "score", "define a function score(answers, submission)"),
        ("score = 1\n", "score", "define a function score(answers, submission)"),
    ],
)
def test_it_refuses_a_metric_file_that_cannot_be_loaded(source, key, words):
    with pytest.raises(BadCompetition) as caught:
        scorer_for(competition(), source)

    (problem,) = caught.value.problems
    assert (problem["file"], problem["key"]) == ("metric.py", key)
    assert words in problem["message"]


def test_it_refuses_an_unknown_metric():
    with pytest.raises(BadCompetition, match=r"competition\.toml: metric: there is no metric"):
        scorer_for(competition(metric="root_mean_square_error"), None)


def test_it_refuses_columns_the_metric_cannot_take():
    with pytest.raises(BadCompetition, match="does not take columns of kind text"):
        scorer_for(competition('x = { kind = "text" }'), None)


def test_it_refuses_a_mix_of_kinds_that_makes_no_array(monkeypatch):
    anything = dataclasses.replace(METRICS["accuracy_score"], columns="any")
    monkeypatch.setitem(METRICS, "accuracy_score", anything)
    columns = 'x = { kind = "label" }\ny = { kind = "boolean" }'

    with pytest.raises(BadCompetition, match=r"such a mix of kinds needs a metric\.py"):
        scorer_for(competition(columns, metric="accuracy_score"), None)


def test_it_refuses_parameters_beside_a_custom_metric():
    with pytest.raises(BadCompetition, match="takes no parameters"):
        scorer_for(competition(parameters="{ k = 5 }"), "def score(a, s):\n    return 1\n")


def test_a_scorer_says_which_input_it_takes():
    assert not scorer_for(competition(), None).takes_frames
    custom = scorer_for(competition(), "def score(a, s):\n    return 1.0\n")
    assert isinstance(custom, Scorer)
    assert custom.takes_frames


def test_what_a_metric_prepares_is_made_once_and_given_in_place_of_the_answers():
    tiny = competition()
    answers = decode_answers(ANSWERS, tiny, IDS)
    source = """
calls = []

def prepare(answers):
    calls.append(list(answers.columns))
    return float(answers["x"].sum())

def score(prepared, submission):
    return prepared + 1000 * len(calls)
"""
    scorer = scorer_for(tiny, source)
    scores = [grade(SUBMITTED, tiny, answers, None, scorer).score for _ in range(3)]

    assert scores == [1010.0] * 3
    # Another metric on the same answers does not get what this one prepared.
    again = scorer_for(tiny, source.replace("1000", "0"))
    assert grade(SUBMITTED, tiny, answers, None, again).score == 10.0


def test_a_metric_that_writes_into_its_answers_spoils_nothing_for_the_next():
    tiny = competition()
    answers = decode_answers(ANSWERS, tiny, IDS)
    source = """
def score(answers, submission):
    found = float(answers["x"].sum())
    answers.loc[0, "x"] = -99.0
    answers["id"].array[0] = "changed"
    answers["new"] = 1
    answers.attrs["more"] = 1
    return found + len(answers.columns) + len(answers.attrs)
"""
    scorer = scorer_for(tiny, source)
    first, second = (grade(SUBMITTED, tiny, answers, None, scorer).score for _ in range(2))

    assert first == second


def test_a_failing_prepare_is_the_metrics_fault():
    assert "failed: ZeroDivisionError at metric.py:2" in fault(
        "def prepare(a):\n    return 1 / 0\ndef score(p, s):\n    return 1\n"
    )


def test_prepare_must_be_a_function():
    with pytest.raises(BadCompetition, match="prepare must be a function"):
        scorer_for(competition(), "prepare = 1\ndef score(a, s):\n    return 1\n")
