"""Patterns of texts and items mean the same in both ways of reading, and none is slow."""

import time

import pytest

from app.domain.verdict import Rejection
from tests.grading.make import checker, csv, only_violation

CELLS = ["12", "a", "\N{ARABIC-INDIC DIGIT THREE}", "\N{LATIN SMALL LETTER E WITH ACUTE}", "_", "-",
         "a\N{NO-BREAK SPACE}b", "\N{KELVIN SIGN}", "[:digt]"]  # fmt: skip
PATTERNS = [r"\d+", r"[^\d]+", r"\D+", r"\w+", r"\W+", r"\s+", r"\S+", r"\b.", r".\B",
            "[[:digit:]]+", "[[:alpha:]]", "(?i)k", "(?i)[a-z]+"]  # fmt: skip


@pytest.mark.parametrize("kind", ["text", "list"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.filterwarnings("ignore:Possible nested set")
def test_both_ways_of_reading_take_the_same_cells(kind: str, pattern: str) -> None:
    judge = checker(f"x = {{ kind = '{kind}', pattern = '{pattern}' }}", ids=["a"])
    for cell in CELLS:
        data = csv(cell, ids="a")
        try:
            judge.check_exactly(data)
            is_taken = True
        except Rejection:
            is_taken = False
        assert is_taken is (judge.check_fast(data) is not None), cell


@pytest.mark.parametrize("kind", ["text", "list"])
def test_every_cell_has_to_match(kind: str) -> None:
    judge = checker(f"x = {{ kind = '{kind}', pattern = '[a-z]+' }}")

    assert judge.check_fast(csv("a", "bc", "d")) is not None
    assert only_violation(judge, csv("a", "2", "d")).row == 2


@pytest.mark.parametrize("kind", ["text", "list"])
def test_no_pattern_takes_longer_than_the_cells_are_long(kind: str) -> None:
    judge = checker(f"x = {{ kind = '{kind}', pattern = '(a|aa)*b' }}", ids=["a"])
    started = time.process_time()
    with pytest.raises(Rejection):
        judge.check(csv("a" * 36, ids="a"))

    assert time.process_time() - started < 0.5  # each four letters more took seven times as long
