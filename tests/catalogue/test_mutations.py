"""Files that are broken in many ways, for every declared form: a verdict or a rejection, always.

The mutations are drawn with a fixed seed, so that a failure repeats.
"""

from __future__ import annotations

import csv
import io
import math
import random

import pytest

from app.domain.columns import BoxesColumn
from app.domain.verdict import Rejection
from app.grading.check import Checker
from app.grading.columns.numbers import Bounds, NumberLike
from app.grading.grade import grade
from tests.catalogue.vectors import SLUGS, Vectors

MUTANTS = 40  # of each competition
EXTREMES = (0.0, -0.0, 5e-324, 1e-300, 1.0, 1e155, -1e155, 1.7e308, -1.7e308)


@pytest.fixture(scope="module", params=SLUGS)
def vectors(request, tmp_path_factory):
    return Vectors(request.param, tmp_path_factory.mktemp(request.param))


def table(vectors: Vectors) -> list[list[str]]:
    """The header and the rows of a well-formed file."""
    case = next(case for case in vectors.cases if case["wellformed"])
    return list(csv.reader(io.StringIO(vectors.read(case).decode(), newline="")))


def written(rows: list[list[str]], chance: random.Random) -> bytes:
    text = io.StringIO(newline="")
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(text, lineterminator="\n", quoting=quoting).writerows(rows)
    return text.getvalue().encode()


def mutate(rows: list[list[str]], chance: random.Random) -> bytes:
    """A file with up to three of the mistakes that programs and accidents make."""
    rows = [list(row) for row in rows]
    order = list(range(len(rows[0])))
    chance.shuffle(order)
    rows = [[row[place] for place in order] for row in rows]
    for _ in range(chance.randint(1, 3)):
        row = rows[chance.randrange(1, len(rows))]
        match chance.randrange(6):
            case 0:
                del row[chance.randrange(len(row) + 1) :]
            case 1:
                row.append(chance.choice(["", "1", "a b"]))
            case 2:
                rows.insert(chance.randrange(1, len(rows)), list(row))
            case 3:
                row[:] = [chance.choice([cell, "", "nan", "-1", "\x1f", "é"]) for cell in row]
            case 4:
                place = chance.randrange(len(rows[0]) + 1)
                for line in rows:
                    del line[place : place + 1]
            case 5 if len(rows) > 2:
                rows.remove(row)
    data = bytearray(written(rows, chance))
    match chance.randrange(5):
        case 0:
            data.insert(chance.randrange(len(data) + 1), ord('"'))
        case 1:
            del data[chance.randrange(len(data) + 1) :]
        case 2:
            data[chance.randrange(len(data))] = chance.choice(b'",\n\r \x00\xff')
    return bytes(data)


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
                row[place] = str(int(value)) if bounds.whole else repr(value)
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
