"""Cells of every kind: what is accepted and decoded to what, what is refused and how."""

from itertools import pairwise

import numpy as np
import pytest

from tests.grading.make import accepted, checker, codes, csv, numbers, only_violation, refusal

NUMBER = 'x = { kind = "number" }'
PROBABILITY = 'x = { kind = "probability" }'
INTEGER = 'x = { kind = "integer", min = -5, max = 50 }'
BOOLEAN = 'x = { kind = "boolean" }'
LABEL = 'x = { kind = "label", labels = ["cat", "dog", "3"] }'
OPEN_LABEL = 'x = { kind = "label" }'
LIST = 'x = { kind = "list", max_items = 3, distinct = true }'
MASK = 'x = { kind = "mask", height = 4, width = 4 }'
BOXES = 'x = { kind = "boxes", fields = ["p", "q"], max_boxes = 2 }'


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("+0.5", 0.5), ("-1e-3", -0.001), ("1E+5", 1e5),
        ("007", 7.0), ("9007199254740993", 9007199254740992.0), ("1e-400", 0.0), ("1e308", 1e308),
        ("5e-324", 5e-324), ('"0.5"', 0.5), ('" 0.5 "', 0.5), (" 2", 2.0), ("2\t", 2.0),
    ],
)  # fmt: skip
def test_it_reads_numbers_as_python_does(cell, value):
    judge = checker(NUMBER)

    assert judge.check_fast(csv("1", cell, "1")) is not None
    assert numbers(judge, csv("1", cell, "1")) == [1.0, value, 1.0]


def test_minus_zero_stays_minus_zero():
    assert np.signbit(numbers(checker(NUMBER), csv("-0", "-0.0", "-0e0"))).all()


@pytest.mark.parametrize(
    "cell", ["", " ", '""', "NA", "na", "N/A", "#N/A", "null", "NULL", "None", "<NA>"]
)
@pytest.mark.parametrize("columns", [NUMBER, PROBABILITY, INTEGER, BOOLEAN])
def test_it_refuses_missing_numbers(columns, cell):
    violation = only_violation(checker(columns), csv("1", cell, "1"))

    assert (violation.code.value, violation.column, violation.row) == ("missing_value", "x", 2)
    assert violation.message == "1 value is missing in column 'x', in row 2: fill every row"


@pytest.mark.parametrize(
    "cell", ["nan", "NaN", "-nan", "inf", "Inf", "-inf", "+inf", "Infinity", "-infinity", "1e400"]
)
@pytest.mark.parametrize("columns", [NUMBER, PROBABILITY, INTEGER])
def test_it_refuses_numbers_that_are_not_finite(columns, cell):
    violation = only_violation(checker(columns), csv("1", cell, "1"))

    assert (violation.code.value, violation.row) == ("not_finite", 2)
    assert violation.examples == (cell,)


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("high", "write plain decimal numbers such as 0.5 or 1e-3"),
        ('"1,234.5"', "without thousands separators"),
        ('"0,5"', "with a decimal point"),
        ("50%", "write 0.5 instead of 50%"),
        ("0x10", "not hexadecimal ones"),
        ("0x1p-1", "not hexadecimal ones"),
        ("1_000", "without separators between digits"),
        ("1 000", "without separators between digits"),
        ("٠.٥", "ASCII digits"),
        ("５", "ASCII digits"),
        ("True", "write 1 and 0 in a column of numbers"),
        ("1d5", "plain decimal"),
        ("1e", "plain decimal"),
        ("--1", "plain decimal"),
        ("0.5f", "plain decimal"),
        ("1.2.3", "plain decimal"),
        ("-", "plain decimal"),
        (".", "plain decimal"),
        ("\u00a01", "ASCII digits"),
        ("\N{MINUS SIGN}1", "ASCII digits, points and signs (0 to 9, '.', '+' and '-')"),
        ("\x0b1", "plain decimal"),
    ],
)
def test_it_refuses_what_is_not_a_number_and_says_how_to_write_it(cell, advice):
    violation = only_violation(checker(NUMBER), csv("1", cell, "1"))

    assert (violation.code.value, violation.column, violation.row) == ("not_a_number", "x", 2)
    assert violation.examples == (cell.strip('"'),)
    assert advice in violation.message


@pytest.mark.parametrize(
    ("columns", "cell", "expected"),
    [
        (PROBABILITY, "1.0000001", "expected a number from 0 to 1"),
        (PROBABILITY, "-1e-300", "expected a number from 0 to 1"),
        (INTEGER, "51", "expected a number from -5 to 50"),
        ('x = { kind = "number", min = 0 }', "-0.5", "expected a number of at least 0"),
        ('x = { kind = "number", max = 0.5 }', "0.6", "expected a number of at most 0.5"),
        (
            'x = { kind = "number", min = -1e300, max = 0.7 }',
            "0.8",
            "expected a number from -1e+300 to 0.7",
        ),
    ],
)
def test_it_refuses_numbers_out_of_range(columns, cell, expected):
    violation = only_violation(checker(columns), csv("0", cell, "0"))

    assert (violation.code.value, violation.row) == ("out_of_range", 2)
    assert violation.message == f"1 value is out of range in column 'x', in row 2: {expected}"


def test_the_ends_of_a_range_belong_to_it():
    assert numbers(checker(PROBABILITY), csv("0", "1", "-0")) == [0.0, 1.0, 0.0]


def test_whole_numbers_may_be_written_with_a_point():
    judge = checker(INTEGER)

    assert judge.check_fast(csv("3.0", "-5", "5e1")) is not None
    assert numbers(judge, csv("3.0", "-5", "5e1")) == [3.0, -5.0, 50.0]


def test_it_refuses_a_fraction_where_whole_numbers_belong():
    violation = only_violation(checker(INTEGER), csv("3", "3.5", "3"))

    assert (violation.code.value, violation.row) == ("bad_format", 2)
    assert violation.message.startswith("1 value is not a whole number in column 'x', in row 2")


@pytest.mark.parametrize(
    "cells",
    [
        ("True", "False", "True"), ("true", "FALSE", "True"), ("1", "0", "1"), ("1.0", "0.0", "1"),
        ("tRUE", "falsE", "TRUE"), (" True", "False ", "True"), ('"True"', "False", "True"),
    ],
)  # fmt: skip
def test_it_reads_booleans_in_one_family_of_spellings(cells):
    assert numbers(checker(BOOLEAN), csv(*cells)) == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("cells", "row"), [(("True", "False", "1"), 3), (("TRUE", "0.0", "False"), 2)]
)
def test_it_refuses_a_mix_of_words_and_numerals(cells, row):
    violation = only_violation(checker(BOOLEAN), csv(*cells))

    assert (violation.code.value, violation.row) == ("bad_format", row)
    assert violation.message.endswith("write either True and False, or 1 and 0, throughout")


@pytest.mark.parametrize("cell", ["yes", "0.7", "2", "T", "+1", "1.00", "falſe"])
def test_it_refuses_what_is_no_boolean(cell):
    violation = only_violation(checker(BOOLEAN), csv("True", cell, "False"))

    assert (violation.code.value, violation.row, violation.examples) == ("bad_format", 2, (cell,))


def test_labels_are_coded_in_the_declared_order():
    judge = checker(LABEL)
    data = csv("dog", "3", "cat")

    assert judge.check_fast(data) is not None
    assert accepted(judge, data).decoded.others["x"].codes.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("bird", "expected one of 'cat', 'dog', '3'"),
        ("Dog", "'dog' is expected; labels must agree letter by letter"),
        ("dog ", "'dog' is expected"),
        ("3.0", "'3' is expected"),
    ],
)
def test_it_refuses_labels_that_are_not_declared(cell, advice):
    violation = only_violation(checker(LABEL), csv("cat", cell, "dog"))

    assert (violation.code.value, violation.row) == ("unknown_label", 2)
    assert violation.examples == (cell,)
    assert advice in violation.message


@pytest.mark.parametrize("cell", ["", "NA", "nan", "None", " "])
def test_it_refuses_missing_labels(cell):
    assert codes(checker(LABEL), csv("cat", cell, "dog")) == ["missing_value"]


def test_where_no_labels_are_declared_any_text_but_none_is_one():
    judge = checker(OPEN_LABEL)
    coded = accepted(judge, csv("NA", "dog", "NA")).decoded.others["x"]

    assert judge.check_fast(csv("NA", "dog", "NA")) is not None
    assert [coded.names[code].as_py() for code in coded.codes] == ["NA", "dog", "NA"]
    assert codes(judge, csv("NA", "", "dog")) == ["missing_value"]


def test_a_declared_label_may_look_like_a_missing_one():
    judge = checker('x = { kind = "label", labels = ["None", "Some"] }')

    assert accepted(judge, csv("None", "Some", "None")).decoded.others["x"].codes.tolist() == [
        0,
        1,
        0,
    ]


@pytest.mark.parametrize("data", [csv("one", "", "two"), csv("one", '""', "two")])
def test_empty_text_is_accepted_only_where_it_is_allowed(data):
    assert codes(checker('x = { kind = "text" }'), data) == ["missing_value"]
    allowing = checker('x = { kind = "text", allow_empty = true }')
    assert accepted(allowing, data).decoded.others["x"].tolist() == ["one", "", "two"]


def test_text_is_measured_in_characters():
    judge = checker('x = { kind = "text", max_length = 3 }')

    assert judge.check_fast(csv("ééé", "b", "NaN")) is not None
    violation = only_violation(judge, csv("ééé", "éééé", "b"))
    assert (violation.code.value, violation.row) == ("bad_format", 2)
    assert violation.message.endswith("expected at most 3 characters, found 4")


def items(judge, data):
    coded = accepted(judge, data).decoded.others["x"]
    names = [coded.names[code].as_py() for code in coded.codes.codes]
    ends = coded.codes.offsets.tolist()
    return [names[start:end] for start, end in pairwise(ends)]


def test_lists_are_split_at_spaces():
    judge = checker(LIST)
    data = csv("p q r", "", " q  p ")

    assert judge.check_fast(data) is not None
    assert items(judge, data) == [["p", "q", "r"], [], ["q", "p"]]


def test_lists_are_split_at_other_separators_with_spaces_around_them():
    judge = checker('x = { kind = "list", separator = "|" }')

    assert judge.check_fast(csv("p q|r", "", "s")) is not None
    assert items(judge, csv("p q|r", "", "s")) == [["p q", "r"], [], ["s"]]
    assert items(judge, csv("p q | r", "  ", " s")) == [["p q", "r"], [], ["s"]]


@pytest.mark.parametrize(
    ("columns", "cell", "words"),
    [
        (LIST, "p q r s", "expected at most 3 items joined by ' ', found 4"),
        (LIST, "p q p", "an item is repeated"),
        ('x = { kind = "list", separator = "|" }', "p||q", "an item is empty"),
        ('x = { kind = "list", separator = "|" }', "p|", "an item is empty"),
        ('x = { kind = "list", min_items = 2 }', "p", "expected at least 2 items, found 1"),
    ],
)
def test_it_refuses_malformed_lists(columns, cell, words):
    good = "p|q" if "|" in columns else "p q"
    violation = only_violation(checker(columns), csv(good, cell, good))

    assert (violation.code.value, violation.row) == ("bad_format", 2)
    assert violation.examples == (cell,)
    assert words in violation.message


@pytest.mark.parametrize(
    ("columns", "good", "cell", "words"),
    [
        ('x = { kind = "list", max_items = 1 }', "p", "p q", "expected at most 1 item joined"),
        ('x = { kind = "text", max_length = 1 }', "p", "pq", "expected at most 1 character, found"),
        (BOXES.replace("= 2", "= 1"), "1 2", "1 2 3 4", "expected at most 1 box, found 2"),
    ],
)
def test_a_limit_of_one_is_told_in_the_singular(columns, good, cell, words):
    assert words in only_violation(checker(columns), csv(good, cell, good)).message


@pytest.mark.parametrize("cell", ["0 2", "2 21"])
def test_whole_numbers_of_lists_are_bounded(cell):
    judge = checker('x = { kind = "list", items = "integer", min = 1, max = 20 }')

    assert judge.check_fast(csv("1 20", "", "20")) is not None
    assert judge.check_fast(csv("", "", "")) is not None
    assert judge.check_fast(csv("7", "7", "7")) is not None
    violation = only_violation(judge, csv("1 20", cell, "20"))
    assert (violation.code.value, violation.row) == ("bad_format", 2)


@pytest.mark.parametrize("rule", ["", ", max = 9000000000000000000"])
def test_the_bound_that_a_list_is_told_is_the_largest_number_that_it_may_have(rule):
    judge = checker(f'x = {{ kind = "list", items = "integer"{rule} }}')

    violation = only_violation(judge, csv("9" * 18, "1" + "0" * 18, ""))

    assert violation.row == 2
    assert f"an item is not a whole number from 0 to {'9' * 18}" in violation.message


def test_an_empty_list_is_missing_where_items_are_required():
    judge = checker('x = { kind = "list", min_items = 1 }')

    assert codes(judge, csv("p", "", "q")) == ["missing_value"]


def test_it_refuses_unknown_items_of_lists():
    judge = checker('x = { kind = "list", labels = ["p", "q"] }')
    violation = only_violation(judge, csv("p q", "q z y", "p"))

    assert items(judge, csv("p q", "q", "")) == [["p", "q"], ["q"], []]
    assert (violation.code.value, violation.row) == ("unknown_label", 2)
    assert violation.examples == ("z", "y")


def test_masks_become_runs_from_zero():
    judge = checker(MASK)
    data = csv("1 3 10 5", "", "16 1")

    assert judge.check_fast(data) is not None
    masks = accepted(judge, data).decoded.others["x"]
    assert masks.starts.tolist() == [0, 9, 15]
    assert masks.lengths.tolist() == [3, 5, 1]
    assert masks.offsets.tolist() == [0, 2, 2, 3]
    assert masks.pixels == 16


def test_masks_may_count_from_zero_and_name_the_empty_mask():
    judge = checker('x = { kind = "mask", height = 4, width = 4, start = 0, empty = "-" }')
    masks = accepted(judge, csv("0 1 1 2", "-", "15 1")).decoded.others["x"]

    assert judge.check_fast(csv("0 1 1 2", "-", "15 1")) is not None
    assert masks.starts.tolist() == [0, 1, 15]
    assert masks.offsets.tolist() == [0, 2, 2, 3]
    violation = only_violation(judge, csv("0 1", "", "-"))
    assert (violation.code.value, violation.row) == ("missing_value", 2)
    assert "write '-' for an empty mask" in violation.message
    forbidding = checker(
        'x = { kind = "mask", height = 4, width = 4, empty = "-", allow_empty = false }'
    )
    assert codes(forbidding, csv("1 1", "-", "2 1")) == ["missing_value"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("1 2 3", "an odd number of tokens"),
        ("1 2.5", "a token is not a whole number"),
        ("1 -2", "a token is not a whole number"),
        ("1 9999999999999999999999", "a token is not a whole number"),
        ("a b", "a token is not a whole number"),
        ("0 2", "a run starts before pixel 1, the first"),
        ("2 0", "a run has no length"),
        ("1 4 3 2", "runs overlap or are not in ascending order"),
        ("9 2 1 2", "runs overlap or are not in ascending order"),
        ("16 2", "a run ends past the last of 4 x 4 pixels"),
        ("17 1", "a run ends past the last of 4 x 4 pixels"),
        ("NaN", "a token is not a whole number"),
    ],
)
def test_it_refuses_malformed_masks(cell, words):
    violation = only_violation(checker(MASK), csv("1 2", cell, ""))

    assert (violation.code.value, violation.column, violation.row) == ("bad_format", "x", 2)
    assert violation.examples == (cell,)
    assert words in violation.message


def test_a_mask_may_begin_below_the_end_of_another_rows_mask():
    assert checker(MASK).check_fast(csv("10 5", "1 3", "1 1")) is not None


def test_boxes_become_rows_of_numbers():
    judge = checker(BOXES)
    data = csv("1 2.5 3 4", "", " -1e2  0 ")

    assert judge.check_fast(data) is not None
    boxes = accepted(judge, data).decoded.others["x"]
    assert boxes.values.tolist() == [[1.0, 2.5], [3.0, 4.0], [-100.0, 0.0]]
    assert boxes.offsets.tolist() == [0, 2, 2, 3]
    assert boxes.fields == ("p", "q")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("1 2 3", "expected 2 numbers for every box (p q), found 3"),
        ("1 x", "a token is not a finite number; write p q for every box"),
        ("1 nan", "a token is not a finite number"),
        ("1 1e400", "a token is not a finite number"),
        ("1 0x10", "a token is not a finite number"),
        ("1 2 3 4 5 6", "expected at most 2 boxes, found 3"),
    ],
)
def test_it_refuses_malformed_boxes(cell, words):
    violation = only_violation(checker(BOXES), csv("1 2", cell, ""))

    assert (violation.code.value, violation.row, violation.examples) == ("bad_format", 2, (cell,))
    assert words in violation.message


@pytest.mark.parametrize(
    ("labels", "good", "cell"),
    [('["cat", "dog"]', "dog 1 2", "cat 1 2 dog 3"), ('"unicode"', "U+30CF 1 2", "U+30CF 1")],
)
def test_a_box_without_all_its_fields_is_not_told_to_write_its_label_as_a_number(
    labels, good, cell
):
    judge = checker(
        f'x = {{ kind = "boxes", fields = ["name", "p", "q"], label = "name", labels = {labels} }}'
    )
    found = len(cell.split())

    message = only_violation(judge, csv(good, cell, good)).message
    assert f"expected 3 tokens for every box (name p q), found {found}" in message


def test_it_refuses_rows_without_boxes_where_each_needs_one():
    judge = checker('x = { kind = "boxes", fields = ["p"], allow_empty = false }')

    assert codes(judge, csv("1", " ", "2")) == ["missing_value"]


SUM = """
p = { kind = "probability" }
q = { kind = "probability" }
n = { kind = "number" }
rows_sum_to_one = true
"""


def test_probabilities_of_a_row_must_sum_to_one():
    violation = only_violation(checker(SUM), b"id,p,n,q\na,0.5,9,0.5\nb,0.5,9,0.2\nc,1,9,1\n")

    assert violation.code.value == "probabilities_do_not_sum_to_one"
    assert violation.column is None
    assert violation.message == (
        "2 rows have probabilities that do not sum to one, first in row 2: they sum to 0.7; "
        "divide each by the sum of its row (a difference of 0.001 is allowed)"
    )


def test_sums_within_the_tolerance_are_accepted():
    judge = checker(SUM)
    data = b"id,p,n,q\na,0.5,9,0.5009\nb,0.333,9,0.6661\nc,1,9,0\n"

    assert judge.check_fast(data) is not None
    assert accepted(judge, data).decoded.numbers.shape == (3, 3)


def test_probabilities_are_divided_by_a_sum_that_is_off_by_more_than_rounding():
    data = b"id,p,n,q\na,0.5,9,0.5009\nb,0.25,9,0.750001\nc,0,9,0.9991\n"

    found = accepted(checker(SUM), data).decoded.numbers.tolist()

    total = 0.5 + 0.5009
    assert found == [[0.5 / total, 0.5009 / total, 9], [0.25, 0.750001, 9], [0, 1, 9]]


def test_a_row_with_a_bad_probability_is_not_summed():
    found = refusal(checker(SUM), b"id,p,n,q\na,0.5,9,oops\nb,0.5,9,0.5\nc,1.5,9,0\n").violations

    assert [v.code.value for v in found] == ["out_of_range", "not_a_number"]


def test_distinct_integers_are_not_repeated_with_zeros_before_them():
    judge = checker('x = { kind = "list", items = "integer", distinct = true }')

    violation = only_violation(judge, csv("1 2", "7 8 007", "1"))
    assert (violation.code.value, violation.row) == ("bad_format", 2)
    assert "an item is repeated" in violation.message
    accepted(judge, csv("1 2", "7 8 70", "01"))
