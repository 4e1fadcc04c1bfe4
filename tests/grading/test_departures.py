"""Declarations of competitions whose files depart from the plain form."""

import pytest

from app.domain.competition import parse_competition
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.check import check, read_ids
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import scorer_for

TOML = """title = "T"
version = 1
[metric]
name = "{metric}"
parameters = {parameters}
[submission]
id = "id"
{form}
[submission.columns]
x = {{ {column} }}
{rest}
"""


def declared(column='kind = "number"', *, metric="mean_absolute_error", form="", rest="", **p):
    parameters = "{ " + ", ".join(f"{k} = {v}" for k, v in p.items()) + " }"
    text = TOML.format(metric=metric, parameters=parameters, form=form, column=column, rest=rest)
    return parse_competition("t", text)


def score(competition, sample, answers, submission):
    """The score, read both ways."""
    ids = read_ids(sample.encode(), competition.submission)
    decoded = decode_answers(answers.encode(), competition, ids)
    metric = scorer_for(competition, None)
    found = grade(submission.encode(), competition, decoded, None, metric).score
    exact = decoded.checker.check_exactly(submission.encode())
    assert metric.score(decoded, decoded.private, exact) == found
    return found


def codes(competition, sample, answers, submission):
    with pytest.raises(Rejection) as caught:
        score(competition, sample, answers, submission)
    return {violation.code.value for violation in caught.value.verdict.violations}


def test_ids_that_are_numbers_are_compared_by_value():
    by_value = declared(form='id_kind = "integer"')

    assert score(by_value, "id\n007\n8\n", "id,x\n7,1\n8,2\n", "id,x\n8.0,2\n07,3\n") == 1.0
    assert "unknown_id" in codes(declared(), "id\n007\n", "id,x\n007,1\n", "id,x\n7,1\n")


def test_rows_of_a_repeated_id_are_paired_in_the_order_of_the_file():
    repeated = declared(form="repeated_ids = true")
    sample, answers = "id\na\nb\na\n", "id,x\na,1\nb,2\na,3\n"

    assert score(repeated, sample, answers, "id,x\nb,2\na,1\na,3\n") == 0.0
    assert score(repeated, sample, answers, "id,x\nb,2\na,3\na,1\n") == pytest.approx(4 / 3)
    assert codes(repeated, sample, answers, "id,x\na,1\na,1\na,1\n") == {
        "duplicate_id",
        "missing_id",
    }


def test_ids_without_an_answer_may_be_left_out():
    optional = declared(form="optional_ids = true")
    sample, answers = "id\na\nb\nc\n", "id,x\nc,3\na,1\n"

    assert score(optional, sample, answers, "id,x\na,1\nc,3\n") == 0.0
    assert score(optional, sample, answers, "id,x\na,1\nb,9\nc,4\n") == 0.5
    assert codes(optional, sample, answers, "id,x\na,1\nb,9\n") == {"missing_id"}
    assert codes(optional, sample, answers, "id,x\na,1\nc,3\nd,1\n") == {"unknown_id"}
    assert codes(optional, sample, answers, "id,x\n") == {"row_count"}  # only a header
    ids = read_ids(sample.encode(), optional.submission)
    check(b"id,x\nb,1\n", optional.submission, ids)  # which ids count is not known here


@pytest.mark.parametrize("end", ["", "\n\n"])  # a blank line is for the exact check
@pytest.mark.parametrize(
    ("rows", "code"), [("b,oops\n", "not_a_number"), ("b,1\nb,1\n", "duplicate_id")]
)
def test_a_row_without_an_answer_is_checked_as_in_validation(rows, code, end):
    optional = declared(form="optional_ids = true")
    # As many rows as the sample submission has, also with b twice.
    sample, answers = "id,x\na,0\nb,0\nc,0\nd,0\n", "id,x\na,1\nc,3\n"
    file = f"id,x\na,1\n{rows}c,3\n{end}"
    ids = read_ids(sample.encode(), optional.submission)

    for judge in (
        lambda data: check(data, optional.submission, ids),
        decode_answers(answers.encode(), optional, ids).check,
    ):
        with pytest.raises(Rejection) as caught:
            judge(file.encode())
        assert {v.code.value for v in caught.value.verdict.violations} == {code}


def test_a_rejection_does_not_tell_which_optional_ids_have_an_answer():
    optional = declared(form="optional_ids = true")
    sample = "id,x\na,0\nb,0\nc,0\nd,0\n"
    ids = read_ids(sample.encode(), optional.submission)
    file = b"id,x\nb,1\nzz,1\n"
    texts = set()
    for rows in ("a,1\nc,3\n", "c,1\nd,1\na,1\n"):
        answers = decode_answers(f"id,x\n{rows}".encode(), optional, ids)
        with pytest.raises(Rejection) as caught:
            answers.check(file)
        texts.add(repr(caught.value.verdict))

    assert len(texts) == 1


def test_unscored_rows_must_be_there_and_count_nowhere():
    unscored = declared(rest='[answers]\nunscored = { keep = ["no"] }')
    by_value = declared(rest='[answers]\nunscored = { x = ["", "-1"] }')
    sample = "id\na\nb\nc\n"

    assert (
        score(unscored, sample, "id,x,keep\na,1,yes\nb,7,no\nc,2,\n", "id,x\nc,2\na,1\nb,0\n") == 0
    )
    assert score(by_value, sample, "id,x\na,1\nb,\nc,-1\n", "id,x\na,3\nb,0\nc,0\n") == 2.0
    assert codes(by_value, sample, "id,x\na,1\nb,\nc,2\n", "id,x\na,1\nb,\nc,2\n") == {
        "missing_value"
    }
    with pytest.raises(BadCompetition, match="not there"):
        score(unscored, sample, "id,x\na,1\nb,7\nc,2\n", "id,x\na,1\nb,1\nc,1\n")


def test_a_column_may_have_other_names():
    named = declared(
        'kind = "number", aliases = ["y"]', rest='[answers]\ncolumns = { x = "truth" }'
    )

    assert score(named, "id\na\n", "id,truth\na,1\n", "id,y\na,1\n") == 0.0
    assert score(named, "id\na\n", "id,truth\na,1\n", "id,x,y\na,1,5\n") == 0.0
    assert codes(named, "id\na\n", "id,truth\na,1\n", "id,truth\na,1\n") == {"missing_column"}


def test_masks_end_where_the_answers_say_that_their_image_ends():
    sized = declared('kind = "mask", height = "h", width = "w"', metric="dice_score")
    answers = "id,x,h,w\na,1 4,2,2\nb,1 4,3.0,2\n"

    assert score(sized, "id\na\nb\n", answers, "id,x\nb,1 4\na,1 4\n") == 1.0
    assert codes(sized, "id\na\nb\n", answers, "id,x\nb,3 4\na,3 3\n") == {"bad_format"}


@pytest.mark.parametrize("labels", ['["a", "a", "b"]', '["a", "b", "a"]'])
def test_a_label_of_lists_that_is_declared_twice_is_one_label(labels):
    twice = declared(f'kind = "list", labels = {labels}', metric="multilabel_f1_score")
    sample, answers = "id\nr\ns\n", "id,x\nr,a b\ns,a\n"

    assert score(twice, sample, answers, answers) == 1.0
    assert score(twice, sample, answers, "id,x\nr,b a\ns,b\n") == pytest.approx(2 / 3)


def test_an_order_holds_the_items_of_its_row():
    order = declared('kind = "list", permutation = true', metric="kendall_tau_corrcoef")
    answers = "id,x\na,p q r\nb,s t\n"

    assert score(order, "id\na\nb\n", answers, "id,x\nb,s t\na,q p r\n") == 0.5
    for wrong in ("p q", "p q q", "p q s", "p q r r"):
        assert codes(order, "id\na\nb\n", answers, f"id,x\na,{wrong}\nb,t s\n") == {"bad_format"}


def test_an_order_of_other_items_is_told_with_its_row_in_the_file():
    order = declared('kind = "list", permutation = true', metric="kendall_tau_corrcoef")
    sample, answers = "id\na\nb\n", "id,x\na,p q r\nb,s t\n"

    for rows, wrong in (("a,p q\nb,t s\n", 1), ("b,t s\na,p q\n", 2)):
        with pytest.raises(Rejection) as caught:
            score(order, sample, answers, f"id,x\n{rows}")
        assert [one.row for one in caught.value.verdict.violations] == [wrong]


@pytest.mark.parametrize("cell", ["1 21", "0", "1 two", "1.0", "-1"])
def test_items_may_be_whole_numbers_in_a_range(cell):
    numbers = declared(
        'kind = "list", items = "integer", min = 1, max = 20', metric="top_k_error", k=1
    )

    assert score(numbers, "id\na\n", "id,x\na,7\n", "id,x\na,007 1\n") == 0.0
    assert codes(numbers, "id\na\n", "id,x\na,7\n", f"id,x\na,{cell}\n") == {"bad_format"}


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("cat 0.5 1 1 2", "bad_format"),
        ("cow 0.5 1 1 2 2", "unknown_label"),
        ("cat 1.5 1 1 2 2", "bad_format"),
        ("cat 0.5 3 1 2 2", "bad_format"),
        ("cat nan 1 1 2 2", "bad_format"),
        ("", "missing_value"),
    ],
)
def test_boxes_have_labels_and_rules(cell, code):
    boxes = declared(
        'kind = "boxes", fields = ["name", "p", "a", "b", "c", "d"], label = "name", '
        'labels = ["ant", "cat"], probabilities = ["p"], ascending = [["a", "c"]], '
        "allow_empty = false"
    )
    ids = read_ids(b"id\nr\n", boxes.submission)

    found = check(b"id,x\nr,cat 0.5 1 1 2 2\n", boxes.submission, ids).decoded.others["x"]
    assert found.values.tolist() == [[1.0, 0.5, 1.0, 1.0, 2.0, 2.0]]
    with pytest.raises(Rejection) as caught:
        check(f'id,x\nr,"{cell}"\n'.encode(), boxes.submission, ids)
    assert {v.code.value for v in caught.value.verdict.violations} == {code}


def test_texts_have_a_pattern_and_some_may_count_as_empty():
    texts = declared(
        'kind = "text", allow_empty = true, pattern = "NA|[a-z]*", same_as_empty = ["NA"]',
        metric="accuracy_score",
    )

    assert score(texts, "id\na\nb\n", "id,x\na,\nb,z\n", "id,x\na,NA\nb,z\n") == 1.0
    assert codes(texts, "id\na\nb\n", "id,x\na,\nb,z\n", "id,x\na,NB\nb,z\n") == {"bad_format"}


def test_empty_texts_and_those_that_count_as_empty_need_not_match():
    """They were refused unless the pattern and the greatest length fitted them too."""
    texts = declared(
        'kind = "text", allow_empty = true, pattern = "[a-z]", max_length = 1, '
        'same_as_empty = ["NA", "-"]',
        metric="accuracy_score",
    )
    ids, answers = "id\na\nb\nc\n", "id,x\na,\nb,NA\nc,z\n"

    assert score(texts, ids, answers, "id,x\na,-\nb,\nc,z\n") == 1.0
    assert codes(texts, ids, answers, "id,x\na,N\nb,\nc,z\n") == {"bad_format"}


def test_unknown_columns_may_be_refused():
    strict = declared(form='unknown_columns = "refuse"')

    assert codes(strict, "id\na\n", "id,x\na,1\n", "id,x,y\na,1,2\n") == {"bad_format"}


@pytest.mark.parametrize(
    "column",
    [
        'kind = "mask", height = 5, width = "w"',
        'kind = "text", pattern = "("',
        'kind = "text", pattern = "a{9999999999}"',
        'kind = "text", pattern = "' + "(" * 900 + "a" + ")" * 900 + '"',
        'kind = "list", pattern = "' + "(" * 100_000 + '"',
        'kind = "list", min = 3',
        'kind = "boxes", fields = ["a"], positive = ["b"]',
        'kind = "boxes", fields = ["a"], label = "a"',
        'kind = "number", aliases = ["id"]',
    ],
)
def test_contradictions_are_refused(column):
    with pytest.raises(BadCompetition):
        declared(column)
