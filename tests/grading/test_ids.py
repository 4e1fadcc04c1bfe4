"""Ids: kept as written, compared as text, matched in any order, every difference told."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from app.domain.competition import parse_competition
from app.domain.verdict import Rejection
from app.errors import BadCompetition
from app.grading.check import Checker, read_ids
from app.grading.ids.id_keys import Matching
from app.grading.ids.public_ids import IdsDifferError, PublicIds
from tests.grading.make import (
    accepted,
    checker,
    codes,
    competition,
    numbers,
    only_violation,
    public_ids,
    refusal,
)


def file(*ids: str) -> bytes:
    return ("id,x\n" + "".join(f"{i},{row}\n" for row, i in enumerate(ids))).encode()


@pytest.mark.parametrize(
    "ids",
    [
        ["10", "11", "12", "13"],
        ["-2", "0", "5", "9"],
        ["007", "7", "07", "7.0"],
        ["id_1", "id_2", "1e3", "1000"],
        ["1", "9223372036854775807", "-9223372036854775808", "92233720368547758080"],
        ["2011-01-20 00:00:00", "2011-01-20", "20 Jan", "x y"],
    ],
)
def test_rows_are_matched_by_id_whatever_their_order(ids):
    judge = checker(ids=ids)

    for order in ([0, 1, 2, 3], [3, 1, 0, 2], [1, 0, 3, 2]):
        data = file(*(ids[place] for place in order))
        assert judge.check_fast(data) is not None
        assert numbers(judge, data) == [float(order.index(place)) for place in range(4)]


def test_ids_of_several_columns_are_matched_together():
    form = competition(id_columns='["store", "day"]').submission
    judge = Checker(form, public_ids(["1", "1", "11"], ["2", "12", "2"]))
    data = b"day,x,store\n2,5,11\n12,6,1\n2,7,1\n"

    assert judge.check_fast(data) is not None
    assert numbers(judge, data) == [7.0, 6.0, 5.0]


@pytest.mark.parametrize(("days", "by_value"), [(("1", "2"), True), (("mo", "tu"), False)])
def test_several_columns_are_compared_by_value_if_all_their_ids_are_whole_numbers(days, by_value):
    form = competition(id_columns='["store", "day"]').submission
    lines = "store,day,x\n{0},{2},1\n{1},{3},2\n"
    judge = Checker(form, read_ids(lines.format("7", "8", *days).encode(), form))
    data = lines.format("8.0", "07", *reversed(days)).encode()

    if by_value:
        assert numbers(judge, data) == [2.0, 1.0]
    else:
        assert set(codes(judge, data)) == {"unknown_id", "missing_id"}


def test_it_names_the_differing_ids_of_several_columns():
    form = competition(id_columns='["store", "day"]').submission
    judge = Checker(form, public_ids(["1", "1", "2"], ["mo", "tu", "mo"]))
    found = refusal(judge, b"store,day,x\n1,mo,0\n1,we,0\n1,mo,0\n").violations

    assert [(v.code.value, v.column, v.row, v.examples) for v in found] == [
        ("duplicate_id", None, 3, ("1, mo",)),
        ("unknown_id", None, 2, ("1, we",)),
        ("missing_id", None, None, ("1, tu", "2, mo")),
    ]


@pytest.mark.parametrize("kind", ['id_kind = "text"', 'id_kind = "integer"', "repeated_ids = true"])
@pytest.mark.parametrize(
    ("row", "empty"), [("2,", ["day"]), (",3", ["store"]), (",", ["store", "day"])]
)
def test_an_empty_id_is_told_with_its_column(kind, row, empty):
    form = competition(id_columns=f'["store", "day"]\n{kind}').submission
    ids = read_ids(b"store,day\n1,2\n2,3\n", form)
    found = refusal(Checker(form, ids), f"store,day,x\n1,2,0\n{row},0\n".encode()).violations

    assert [(v.code.value, v.column, v.row) for v in found] == [
        *(("missing_value", name, 2) for name in empty), ("missing_id", None, None),
    ]  # fmt: skip


def test_it_refuses_missing_ids_with_examples_from_the_public_ones():
    found = refusal(checker(), file("a")).violations

    assert [v.code.value for v in found] == ["row_count", "missing_id"]
    assert found[1].message == (
        "2 ids are missing in column 'id': every id of the sample submission needs a row"
    )
    assert found[1].examples == ("b", "c")


def test_of_a_file_that_is_not_read_to_its_end_no_ids_are_called_missing():
    found = refusal(checker(), b"id,x\n" + b"a,1\n" * 20_000).violations

    assert [v.code.value for v in found] == ["row_count", "duplicate_id"]
    assert found[0].message.endswith("found more than 10006 lines")


def test_it_refuses_unknown_ids_and_shows_what_ids_look_like():
    found = refusal(checker(), file("a", "b", "z")).violations

    assert [(v.code.value, v.row, v.examples) for v in found] == [
        ("unknown_id", 3, ("z",)),
        ("missing_id", None, ("c",)),
    ]
    assert found[0].message.endswith("ids look like 'a', 'b'")


def test_it_refuses_repeated_ids():
    found = refusal(checker(), file("a", "b", "c", "b", "b")).violations

    assert [v.code.value for v in found] == ["row_count", "duplicate_id"]
    assert found[1].message == (
        "2 rows repeat an id in column 'id', first in row 4: every id must stand there exactly once"
    )
    assert found[1].examples == ("b",)


def test_it_refuses_empty_ids():
    found = refusal(checker(), b"id,x\na,1\n,2\nc,3\n").violations

    assert [(v.code.value, v.column, v.row) for v in found] == [
        ("missing_value", "id", 2),
        ("missing_id", "id", None),
    ]


@pytest.mark.parametrize(
    ("expected", "written"), [("007", "7"), ("1", "1.0"), ("1000", "1e3"), ("12", "0012")]
)
def test_it_says_when_ids_look_retyped(expected, written):
    judge = checker(ids=["x", expected, "y"])
    found = {v.code.value: v for v in refusal(judge, file("x", written, "y")).violations}

    assert set(found) == {"unknown_id", "missing_id"}
    assert found["unknown_id"].examples == (written,)
    assert (
        f"the ids look re-typed, {written!r} stands where {expected!r} is expected: "
        "read and write ids as text" in found["unknown_id"].message
    )


@pytest.mark.parametrize("written", ["ABC", " abc", "abc "])
def test_it_says_when_ids_differ_in_case_or_spaces(written):
    judge = checker(ids=["x", "abc", "y"])
    found = {v.code.value: v for v in refusal(judge, file("x", written, "y")).violations}

    assert "ids must agree in case and spaces" in found["unknown_id"].message


def test_padded_numbers_are_other_ids_than_plain_ones():
    judge = checker(ids=["1", "2", "3"])

    assert codes(judge, file("01", "2", "3")) == ["unknown_id", "missing_id"]
    assert codes(judge, file("3", "+1", "2")) == ["unknown_id", "missing_id"]
    assert codes(judge, file("0x1", "2", "3")) == ["unknown_id", "missing_id"]
    assert codes(judge, file("4", "2", "3")) == ["unknown_id", "missing_id"]


def test_the_id_of_a_malformed_row_is_not_called_missing():
    assert only_violation(checker(), b"id,x\na,1\nb\nc,3\n").code.value == "not_csv"


def test_a_row_too_short_to_have_an_id_leaves_that_id_missing():
    judge = checker(ids=["10", "11", "12"])

    assert codes(judge, b"x,id\n1,10\n2\n3,12\n") == ["not_csv", "missing_id"]


@pytest.mark.parametrize("matching", [Matching(repeated=True), Matching(numeric=True), Matching()])
@pytest.mark.parametrize("columns", [("id",), ("id", "day")])
def test_a_row_too_short_to_have_an_id_is_rejected_however_ids_are_matched(matching, columns):
    form = competition(id_columns=str(list(columns))).submission
    ids = PublicIds.from_columns([pa.array(["1", "2", "3"])] * len(columns), matching)
    header = ",".join(["x", *columns])
    rows = [",".join(["0.5", *[text] * len(columns)]) for text in ("1", "2")]
    data = "\n".join([header, *rows, "0.5"]).encode()

    with pytest.raises(Rejection) as caught:
        Checker(form, ids).check(data)

    assert {v.code.value for v in caught.value.verdict.violations} == {"not_csv", "missing_id"}


def test_order_of_a_large_shuffled_file_is_a_permutation():
    random = np.random.default_rng(1)
    for ids in (
        [str(i) for i in range(500_000, 520_000)],
        [f"{i:032x}" for i in random.integers(0, 2**62, 20_000).tolist()],
    ):
        shuffled = random.permutation(len(ids))
        submitted = pa.chunked_array([[ids[place] for place in shuffled.tolist()]])

        order = public_ids(ids).order([submitted])

        assert order is not None
        assert (shuffled[order] == np.arange(len(ids))).all()


def test_order_refuses_a_repeated_id_that_hides_a_missing_one():
    for ids in (["1", "2", "3"], ["p", "q", "r"]):
        with pytest.raises(IdsDifferError):
            public_ids(ids).order([pa.chunked_array([[ids[0], ids[1], ids[1]]])])


def test_public_ids_survive_pickling():
    ids = pickle.loads(pickle.dumps(public_ids(["a", "b"], ["1", "2"])))

    assert ids.rows == 2
    assert ids.order([pa.chunked_array([["b", "a"]]), pa.chunked_array([["2", "1"]])]).tolist() == [
        1,
        0,
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"id,x\n007,0\n7,0\n",
        b"\xef\xbb\xbfx,id\r\n0,007\r\n0,7\r\n",
        b"id\n007\n7\n",
        b"id,x\n\n007,0\n7,0\n",
    ],
)
def test_it_reads_the_public_ids_from_the_sample_submission(data):
    ids = read_ids(data, competition().submission)

    assert isinstance(ids, PublicIds)
    assert [column.to_pylist() for column in ids.columns] == [["007", "7"]]


@pytest.mark.parametrize(
    ("data", "key", "words"),
    [
        (b"", "", "the file is empty"),
        (b"id,x\n", "id", "there are no ids"),
        (b"key,x\na,1\n", "id", "column 'id' is missing"),
        (b"id,x\na,1\na,2\n", "id", "an id is given twice"),
        (b"id,x\na,1\n,2\n", "id", "an id is empty"),
        (b"id,x\na,1\nb\n", "", "not as many values"),
    ],
)
def test_it_refuses_a_bad_sample_submission(data, key, words):
    with pytest.raises(BadCompetition) as caught:
        read_ids(data, competition().submission)

    (problem,) = caught.value.problems
    assert (problem["file"], problem["key"]) == ("public/sample_submission.csv", key)
    assert words in problem["message"]


def test_a_frame_has_ids_as_text_in_the_public_order():
    judge = checker('x = { kind = "number" }\ny = { kind = "label" }', ids=["007", "7"])
    frame = accepted(judge, b"y,id,x\np,7,1\nq,007,2\n").frame()

    assert frame.to_dict("list") == {"id": ["007", "7"], "x": [2.0, 1.0], "y": ["q", "p"]}


@pytest.mark.parametrize(
    ("sample", "declared", "submitted", "is_known"),
    [
        ("7,10", "", "007,10.0", True),
        ("7,10", 'id_kind = "text"', "007,10.0", False),
        ("7,010", "", "7.0,010", False),  # not all are in shortest form
        ("7,x", "", "7.0,x", False),
        ("7,10", "", "7.0,7", False),  # the same id twice
        ("7,10", "", "7.5,10", False),
    ],
)
def test_whole_numbers_are_compared_by_value_without_an_id_kind(
    sample, declared, submitted, is_known
):
    text = f"""title = "T"
version = 1
[metric]
name = "mean_absolute_error"
[submission]
id = "id"
{declared}
[submission.columns]
x = {{ kind = "number" }}
"""
    lines = lambda ids: ("id,x\n" + "".join(f"{i},1\n" for i in ids.split(","))).encode()  # noqa: E731
    form = parse_competition("t", text).form
    checker = Checker(form, read_ids(lines(sample), form))

    if is_known:
        assert checker.check(lines(submitted)).decoded is not None
    else:
        with pytest.raises(Rejection):
            checker.check(lines(submitted))
