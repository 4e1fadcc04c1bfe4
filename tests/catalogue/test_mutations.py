"""Files that are broken in many ways, for every declared form: a verdict or a rejection, always.

The mutations are drawn with a fixed seed, so that a failure repeats.
"""

from __future__ import annotations

import math
import random

from app.domain.columns import BoxesColumn
from app.domain.verdict import Rejection
from app.grading.check import Checker
from app.grading.columns.numbers import Bounds, NumberLike
from app.grading.grade import grade
from tests.catalogue.mutations import broken, mutate, refuse_fault, table, written

MUTANTS = 20  # of each competition; `python -m benchmarks mutations` tries a million files
EXTREMES = (0.0, -0.0, 5e-324, 1e-300, 1.0, 1e155, -1e155, 1.7e308, -1.7e308)


def test_broken_files_get_a_verdict_and_no_other_exception(vectors):
    chance = random.Random(vectors.slug)
    rows = table(vectors)
    without_answers = Checker(vectors.competition.form, vectors.ids)
    for _ in range(MUTANTS):
        data = mutate(rows, chance)
        for check in (vectors.answers.check, without_answers.check):
            try:
                check(data)
            except Rejection as rejection:
                assert rejection.verdict.violations  # noqa: PT017 - a rejection is not always due
        fast = without_answers.check_fast(data)
        if fast is not None:
            exact = without_answers.check_exactly(data)
            assert fast.decoded.numbers.tobytes("F") == exact.decoded.numbers.tobytes("F")
            assert fast.frame().equals(exact.frame())


def test_damaged_bytes_and_cells_get_a_verdict_too(vectors):
    rows = table(vectors)
    without_answers = Checker(vectors.competition.form, vectors.ids)
    for number in range(MUTANTS):
        data = broken(rows, random.Random(f"{vectors.slug} test {number}"))
        assert refuse_fault(vectors, without_answers, data) in ("scored", "rejected")


def test_whole_number_ids_may_be_written_as_floats_or_with_zeros(vectors):
    """One rule for all competitions: ids that are whole numbers are compared by value."""
    names = vectors.competition.form.id
    rows = table(vectors)
    places = [rows[0].index(name) for name in names if name in rows[0]]
    whole = bool(places) and all(
        part.isascii() and part.isdigit() and (part == "0" or part[0] != "0")
        for key in vectors.ids.texts()
        for part in key.partition("\0row ")[0].split("\0")
    )
    scores = []
    for form in ("{}", "{}.0", "00{}"):
        retyped = [rows[0], *([*row] for row in rows[1:])]
        for row in retyped[1:]:
            for place in places:
                row[place] = form.format(row[place])
        data = written(retyped, random.Random(0))
        try:
            scores.append(
                grade(data, vectors.competition, vectors.answers, None, vectors.scorer).score
            )
        except Rejection:
            scores.append(None)

    assert scores[0] is not None
    assert scores[1:] == [scores[0] if whole or not places else None] * 2


def test_a_valid_file_of_extreme_numbers_has_a_finite_score(vectors):
    columns = vectors.competition.form.columns
    rows = table(vectors)
    chance = random.Random(vectors.slug)
    for extreme in (*EXTREMES, None):
        for name in (n for n, c in columns.items() if isinstance(c, NumberLike)):
            bounds = Bounds.of(columns[name])
            place = rows[0].index(name)
            for row in rows[1:]:
                value = chance.choice(EXTREMES) if extreme is None else extreme
                value = min(max(value, bounds.low), bounds.high)
                row[place] = str(int(value)) if bounds.integers else repr(value)
        for name in (n for n, c in columns.items() if isinstance(c, BoxesColumn)):
            place = rows[0].index(name)
            for row in rows[1:]:
                row[place] = row[place].replace("0.5", repr(extreme or 0.5))
        try:
            found = grade(
                written(rows, chance), vectors.competition, vectors.answers, None, vectors.scorer
            )
        except Rejection:
            continue
        assert math.isfinite(found.score)
