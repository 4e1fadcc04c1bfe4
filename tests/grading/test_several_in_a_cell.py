"""Lists, masks and boxes by rules that a form may declare: both ways of reading keep them."""

import numpy as np
import pytest

from app.metrics.arrays import Boxes, Masks
from tests.grading.make import accepted, checker, csv, only_violation

TWO_BOXES = 'x = { kind = "boxes", fields = ["p", "q"], '


@pytest.mark.parametrize(
    ("rule", "cell", "words"),
    [
        ('positive = ["q"]', "1 1 1 0", "q must be above 0"),
        ('probabilities = ["p"]', "1 1 1.5 1", "p must be from 0 to 1"),
        ('probabilities = ["p"]', "0 1 -0.5 1", "p must be from 0 to 1"),
        ('ascending = [["p", "q"]]', "1 1 2 1", "p must not be above q"),
    ],
)
def test_a_rule_of_boxes_holds_for_each_box(rule, cell, words):
    judge = checker(TWO_BOXES + rule + " }")

    assert judge.check_fast(csv("0.2 0.4 0.5 1", "", "1 1")) is not None
    violation = only_violation(judge, csv("1 1", cell, ""))
    assert (violation.code.value, violation.row) == ("bad_format", 2)
    assert words in violation.message


def test_a_character_becomes_its_code_point():
    judge = checker(TWO_BOXES + 'label = "p", labels = "unicode" }')

    boxes = accepted(judge, csv("U+30CF 1", "U+00CF 2", "U+1F600 3")).decoded.others["x"]

    assert boxes.values[:, 0].tolist() == [0x30CF, 0x00CF, 0x1F600]


def test_the_first_of_equal_labels_counts():
    judge = checker(TWO_BOXES + 'label = "p", labels = ["a", "b", "a"] }')

    boxes = accepted(judge, csv("a 1", "b 2", "")).decoded.others["x"]

    assert boxes.values[:, 0].tolist() == [0.0, 1.0]


def test_masks_that_may_not_be_empty_are_read_both_ways():
    judge = checker('x = { kind = "mask", height = 4, width = 4, allow_empty = false }')
    data = csv("1 3 10 5", "2 1", "16 1")

    assert judge.check_fast(data) is not None
    assert accepted(judge, data).decoded.others["x"].offsets.tolist() == [0, 2, 3, 4]
    for cell in ("", " "):
        violation = only_violation(judge, csv("1 3", cell, "2 1"))
        assert (violation.code.value, violation.row) == ("missing_value", 2)


def test_an_empty_cell_is_missing_where_a_blank_means_an_empty_list():
    judge = checker('x = { kind = "list", empty = " " }')

    assert accepted(judge, csv('" "', "p", "q")).decoded.others["x"].codes.offsets[1] == 0
    violation = only_violation(judge, csv("p", "", "q"))
    assert (violation.code.value, violation.row) == ("missing_value", 2)
    assert "write a blank in quotes for an empty list" in violation.message


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ('{ kind = "mask", height = 4, width = 4 }', ("1 3 10 5", "", "16 1")),
        ('{ kind = "boxes", fields = ["p", "q"] }', ("1 2 3 4", "", "5 6")),
    ],
)
def test_the_size_of_a_decoded_file_is_that_of_its_arrays(column, cells):
    decoded = accepted(checker(f"x = {column}\ny = {{ kind = 'number' }}"), numbered(cells)).decoded
    values = decoded.others["x"]
    assert isinstance(values, Masks | Boxes)
    names = ("starts", "lengths", "offsets") if isinstance(values, Masks) else ("values", "offsets")

    arrays = [np.asarray(getattr(values, name)) for name in names]

    assert decoded.nbytes == decoded.numbers.nbytes + sum(array.nbytes for array in arrays)


def numbered(cells):
    rows = [f"{i},{cell},1" for i, cell in zip("abc", cells, strict=True)]
    return "\n".join(["id,x,y", *rows]).encode()
