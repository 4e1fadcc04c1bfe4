"""Files whose rows stand in an agreed order, without ids; and id columns without a name."""

import pytest

from app.domain.competition import parse_competition
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.answers_as_submission import answers_as_submission
from app.grading.check import Checker, read_ids
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import scorer_for
from tests.domain.test_competition import BIKE, problems_of
from tests.grading.make import accepted, codes, only_violation

NODES = """
title = "Nodes"
version = 1
[metric]
name = "accuracy_score"
[submission]
id_kind = "position"
[submission.columns]
0 = { kind = "integer", min = 0, max = 39 }
"""
FORM = parse_competition("nodes", NODES)
SAMPLE = b"0\n7\n7\n7\n7\n"
IDS = read_ids(SAMPLE, FORM.form)
JUDGE = Checker(FORM.form, IDS)


def score(submission, answers=b"0\n5\n6\n7\n8\n"):
    decoded = decode_answers(answers, FORM, IDS)
    return grade(submission, FORM, decoded, None, scorer_for(FORM, None))


def test_rows_are_graded_in_their_order():
    assert score(b"0\n5\n6\n7\n8\n").score == 1.0
    assert score(b"0\n6\n5\n7\n8\n").score == 0.5
    assert score(b"0\r\n5\r\n6\r\n7\r\n9").score == 0.75
    assert score(b'"0"\n"5"\n6\n7\n8\n').score == 1.0


def test_parts_are_told_by_usage():
    answers = b"0,Usage\n5,Public\n6,Private\n7,Private\n8,Ignored\n"
    graded = score(b"0\n1\n6\n2\n3\n", answers)

    assert (graded.score, graded.public_score) == (0.5, 0.0)
    rendered = answers_as_submission(answers, FORM)
    assert rendered == b"0\n5\n6\n7\n5\n"
    assert score(rendered, answers).score == 1.0


def test_a_row_more_or_less_is_the_wrong_number_of_rows():
    assert only_violation(JUDGE, b"0\n5\n6\n7\n").message == (
        "expected 4 rows, one for every row of the sample submission, found 3"
    )
    assert codes(JUDGE, b"0\n5\n6\n7\n8\n9\n") == ["row_count"]
    assert codes(JUDGE, b"0\n") == ["row_count"]
    assert codes(JUDGE, b"0\n5\n\n7\n8\n") == ["row_count"]  # an empty cell is a blank line here


def test_what_is_wrong_is_told_as_elsewhere():
    assert codes(JUDGE, b"0\n5\n6\n7\n40\n") == ["out_of_range"]
    assert codes(JUDGE, b"0\n5\n6\n7\nx\n") == ["not_a_number"]
    assert codes(JUDGE, b"class\n5\n6\n7\n8\n") == ["missing_column"]
    assert codes(JUDGE, b"0\n5\n6\n7\n8,8\n") == ["not_csv"]


def test_an_index_that_stands_there_is_passed_over():
    checked = accepted(JUDGE, b",0\n0,5\n1,6\n2,7\n3,8\n")

    assert checked.decoded.numbers[:, 0].tolist() == [5, 6, 7, 8]
    assert [warning.code.value for warning in checked.warnings] == ["unknown_column"]


def test_a_metric_of_ones_own_gets_frames_in_that_order():
    answers = decode_answers(b"0,weight\n5,1\n6,2\n7,3\n8,4\n", FORM, IDS)
    checked = answers.check(b"0\n5\n6\n7\n0\n")

    assert list(checked.frame().columns) == ["0"]
    assert answers.private.frame()["weight"].tolist() == ["1", "2", "3", "4"]
    assert checked.frame()["0"].tolist() == [5.0, 6.0, 7.0, 0.0]


def test_answers_of_another_length_are_refused():
    with pytest.raises(BadCompetition, match="expected 4 rows"):
        score(b"0\n5\n6\n7\n8\n", answers=b"0\n5\n6\n7\n")
    with pytest.raises(BadCompetition, match="column '0' is missing"):
        read_ids(b"1\n5\n", FORM.form)


@pytest.mark.parametrize(
    "more",
    ['id = "x"', 'id_aliases = ["x"]', "repeated_ids = true", "optional_ids = true"],
)
def test_a_position_needs_no_more_words(more):
    text = NODES.replace('id_kind = "position"', f'id_kind = "position"\n{more}')

    assert [key for key, _ in problems_of(text)] == ["submission"]


INDEX = BIKE.replace('id = "datetime"', 'id = "index"\nid_aliases = ["", "idx"]')
INDEXED = parse_competition("indexed", INDEX).form


@pytest.mark.parametrize(
    "header", ["index,count", ",count", "idx,count", "count,index", '"",count']
)
def test_an_id_column_may_have_other_names_or_none(header):
    rows = ["1,5", "2,6"] if not header.startswith("count") else ["5,1", "6,2"]
    data = "\n".join([header, *rows]).encode()
    ids = read_ids(b",count\n2,0\n1,0\n", INDEXED)

    assert accepted(Checker(INDEXED, ids), data).decoded.numbers[:, 0].tolist() == [6, 5]
    assert read_ids(data, INDEXED).rows == 2


def test_a_name_that_is_there_goes_before_its_alias():
    ids = read_ids(b"index,count\n1,0\n2,0\n", INDEXED)
    checked = accepted(Checker(INDEXED, ids), b",index,count\n0,2,5\n1,1,6\n")

    assert checked.decoded.numbers[:, 0].tolist() == [6, 5]
    named = "'index' stands 2 times in the header, as '' and 'idx': keep one"
    with pytest.raises(Rejection, match=named):
        Checker(INDEXED, ids).check(b",idx,count\n1,1,5\n2,2,6\n")


def test_aliases_name_one_column_once():
    two = BIKE.replace('id = "datetime"', 'id = ["a", "b"]\nid_aliases = ["c"]')
    assert problems_of(two) == [("submission", "id_aliases need a single id column")]
    same = BIKE.replace('id = "datetime"', 'id = "a"\nid_aliases = ["count"]')
    assert problems_of(same) == [("submission", "'count' names two columns")]


@pytest.mark.parametrize(
    "column",
    [
        '{ kind = "text", allow_empty = true }', '{ kind = "list" }',
        '{ kind = "mask", height = 9, width = 9 }', '{ kind = "boxes", fields = ["a", "b"] }',
    ],
)  # fmt: skip
def test_a_blank_line_is_no_row_although_all_columns_may_be_empty(column):
    text = NODES.replace('{ kind = "integer", min = 0, max = 39 }', column)
    form = parse_competition("nodes", text).form
    judge = Checker(form, read_ids(b"0\n1 2\n1 2\n1 2\n", form))

    for blank in (b"0\n1 2\n\n1 2\n", b"0\n1 2\n \n1 2\n", b"0\n1 2\n1 2\n\n"):
        assert codes(judge, blank) == ["row_count"]
    for blank in (b"0,note\n1 2,a\n\n1 2,b\n", b'0,note\r\n1 2,"a"\r\n1 2,b\r\n\r\n'):
        assert codes(judge, blank) == ["row_count"]
    for blank in (b"0,note\r1 2,a\r\r1 2,b\r", b"0,note\n1 2,a\n\r\n1 2,b\n"):
        assert codes(judge, blank) == ["row_count"]
    for whole in (b'0\n1 2\n""\n1 2\n', b"0\n1 2\n1 2\n\n1 2\n", b"0,note\n1 2,a\n,\n1 2,b\n"):
        accepted(judge, whole)
