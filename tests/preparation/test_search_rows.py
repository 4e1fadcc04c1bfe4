"""Rows to search on: chosen by seed from the private rows, and nothing else changes."""

import csv
import io

import pytest

from app.errors import Invalid
from app.grading.reading.records import records
from app.preparation.search_rows import mark_search_rows

PLAIN = "id,x\n" + "".join(f'{n},"a, ""{n}"""\n' for n in range(100))
MARKED = "Usage,id\n" + "".join(
    f"{usage},{n}\n"
    for n in range(100)
    for usage in [" private " if n % 2 else "Public" if n % 4 else "Ignored"]
)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_without_usage_all_other_rows_are_private():
    made = mark_search_rows(PLAIN, 0.2, 1)

    assert made.rows == {"Private": 80, "Search": 20}
    before, after = rows_of(PLAIN), rows_of(made.text)
    assert [{"id": row["id"], "x": row["x"]} for row in after] == before


LONG = "1 2 " * 50_000  # a mask; Python's csv reads cells of 131,072 characters


def test_all_other_cells_stay_as_the_grader_reads_them():
    cells = [LONG, '"a\rb"', '"a\r\nb"', '"a""b,"', 'a"b"', " a ", "", '" "', "a\vb\u2028c\x85"]
    rows = [f"{n},{cells[n % len(cells)]}" for n in range(45)]
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["id,x", *rows[:20], "", " \t", *rows[20:]])
        made = mark_search_rows(text, 0.5, 1)

        before = [row for row in records(text) if row is not None]
        after = list(records(made.text))
        assert [row[:2] for row in after] == before
        assert [row[2] for row in after].count("Search") == 22


@pytest.mark.parametrize("text", ['id,x\n1,"', "id,x\n1\n", "id,x\n1,2,3\n", 'id,"x'])
def test_what_the_grader_does_not_read_is_refused(text):
    with pytest.raises(Invalid, match="The answers"):
        mark_search_rows(text, 0.5, 1)


def test_public_and_ignored_rows_stay_what_they_are():
    made = mark_search_rows(MARKED, 0.5, 1)

    assert made.rows == {"Ignored": 25, "Private": 25, "Public": 25, "Search": 25}
    changed = [
        (old["Usage"], new["Usage"])
        for old, new in zip(rows_of(MARKED), rows_of(made.text), strict=True)
        if old != new
    ]
    assert set(changed) == {(" private ", "Search")}


def test_a_seed_makes_the_same_choice_and_another_another():
    one, again, other = (mark_search_rows(PLAIN, 0.2, seed).text for seed in (1, 1, 2))

    assert one == again
    assert one != other


@pytest.mark.parametrize("share", [0.05, 0.95])
def test_each_part_needs_some_rows(share):
    with pytest.raises(Invalid, match="need at least 10"):
        mark_search_rows(PLAIN, share, 1)


def test_answers_that_are_split_already_are_refused():
    with pytest.raises(Invalid, match="already"):
        mark_search_rows(mark_search_rows(PLAIN, 0.2, 1).text, 0.2, 1)
