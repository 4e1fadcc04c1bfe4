"""Broken files of every declared form: `python -m benchmarks mutations [N] [SEED] [DIR]`.

The command tries N files (1,000,000), as many of each competition, and ends with status 1 if any is
answered with something else than a verdict or a rejection. It writes such files to DIR.
"""

from __future__ import annotations

# ruff: noqa: T201 (a command)
import csv
import io
import math
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from app.domain.verdict import Rejection
from app.grading.check import Checker
from app.grading.grade import grade
from tests.catalogue.vectors import SLUGS, Vectors

FILES = 1_000_000
CELLS = [
    "",
    "nan",
    "-1",
    "\x1f",
    "é",
    "1e400",
    "-0",
    "0.5",
    "1.0",
    "01",
    " ",
    "inf",
    "a b",
    "9" * 30,
]
BYTES = b'",\n\r \t\x00\xff\xef\xbb\xbf;|-+.e0'


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


def broken(rows: list[list[str]], chance: random.Random) -> bytes:
    """A file of `mutate`, or one with more kinds of damage: line ends, cells, ids, any bytes."""
    if chance.random() < 0.4:
        return mutate(rows, chance)
    rows = [list(row) for row in rows]
    for _ in range(chance.randrange(3)):
        row = rows[chance.randrange(len(rows))]
        place = chance.randrange(len(row))
        match chance.randrange(4):
            case 0:
                row[place] = chance.choice(CELLS)
            case 1:
                row[place] = chance.choice(chance.choice(rows))
            case 2:
                row[place] = row[place][: chance.randrange(len(row[place]) + 1)]
            case 3:
                row[place] += chance.choice([" ", ".0", "\n", '"', ",", "e0", "0"])
    end = chance.choice([b"\n", b"\n", b"\r\n", b"\r"])
    data = bytearray(written(rows, chance).replace(b"\n", end))
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data.insert(place, chance.choice(BYTES))
            case 1:
                del data[place : place + chance.randrange(1, 20)]
            case 2 if place < len(data):
                data[place] = chance.choice(BYTES)
            case 3:
                data[place:place] = data[max(0, place - 40) : place]
    return bytes(data)


def refuse_fault(vectors: Vectors, without_answers: Checker, data: bytes) -> str:
    """Check and grade one file. Returns "scored" or "rejected".

    Raises:
        Exception: whatever is neither, such as a score that is not finite, or two ways to read the
            file that disagree.
    """
    fast = without_answers.check_fast(data)
    try:
        exact = without_answers.check_exactly(data)
    except Rejection as rejection:
        assert rejection.verdict.violations, "a rejection without a reason"  # noqa: PT017
        assert fast is None, "the fast way accepts a file that the exact way rejects"
    else:
        if fast is not None:
            same = fast.decoded.numbers.tobytes("F") == exact.decoded.numbers.tobytes("F")
            assert same, "the two ways read other numbers"
            assert fast.frame().equals(exact.frame()), "the two ways read other text"
    try:
        found = grade(data, vectors.competition, vectors.answers, None, vectors.scorer)
    except Rejection as rejection:
        assert rejection.verdict.violations, "a rejection without a reason"  # noqa: PT017
        return "rejected"
    assert math.isfinite(found.score), "a score that is not finite"
    return "scored"


def main(files: str = str(FILES), seed: str = "0", kept: str = "") -> None:
    """Try so many files, and say what came of them."""
    count, faults = Counter[str](), Counter[str]()
    began = time.monotonic()
    each = max(1, int(files) // len(SLUGS))
    with tempfile.TemporaryDirectory() as scratch:
        for slug in SLUGS:
            vectors = Vectors(slug, Path(scratch, slug))
            rows, without_answers = table(vectors), Checker(vectors.competition.form, vectors.ids)
            for number in range(each):
                data = broken(rows, random.Random(f"{slug} {seed} {number}"))
                try:
                    count[refuse_fault(vectors, without_answers, data)] += 1
                except Exception as error:
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    fault = f"{slug}: {error!r:.100} at {place.filename}:{place.lineno}"
                    if not faults[fault] and kept:
                        Path(kept, f"{slug}-{seed}-{number}.csv").write_bytes(data)
                    faults[fault] += 1
            print(f"{slug}: {count.total():,} files, {faults.total()} faults", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(
        f"{each * len(SLUGS):,} files of {len(SLUGS)} competitions in {minutes:.1f} minutes: "
        f"{count['scored']:,} scored, {count['rejected']:,} rejected, {faults.total()} faults"
    )
    for fault, times in faults.most_common():
        print(f"{times}  {fault}")
    if faults:
        sys.exit(1)
