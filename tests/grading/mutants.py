"""Files for property tests: good ones, and what people and accidents make of them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

COLUMNS = {
    "num": '{ kind = "number", min = -100 }',
    "whole": '{ kind = "integer", max = 50 }',
    "flag": '{ kind = "boolean" }',
    "one": '{ kind = "label", labels = ["cat", "dog", "3"] }',
    "any": '{ kind = "label" }',
    "words": '{ kind = "text", max_length = 8 }',
    "maybe": '{ kind = "text", allow_empty = true }',
    "tags": '{ kind = "list", max_items = 3, distinct = true }',
    "bars": '{ kind = "list", separator = "|", labels = ["a", "b", "c d"], min_items = 1 }',
    "rle": '{ kind = "mask", height = 4, width = 5 }',
    "rle0": '{ kind = "mask", height = 4, width = 5, start = 0, empty = "-" }',
    "boxes": '{ kind = "boxes", fields = ["x", "y"], max_boxes = 2 }',
}
PROBABILITIES = 'p = { kind = "probability" }\nq = { kind = "probability" }\nrows_sum_to_one = true'
GOOD = {
    "id": [],
    "num": ["0", "1.5", "-3e-2", "+7", ".5", "5.", " 1", "1 ", "-0", "1e-400", "0012", "99.25"],
    "whole": ["0", "50", "-3", "3.0", "1e1", "-7.00"],
    "flag": ["True", "false", "TRUE"],
    "one": ["cat", "dog", "3"],
    "any": ["k", "NA", " l", "é", "0"],
    "words": ["one", "two, 2", 'say "y"', "a\nb", " ", "nan", "字字"],
    "maybe": ["", "x", "NULL"],
    "tags": ["", "a", "b a", " a  b c ", "a,b c"],
    "bars": ["a", "b|a", "c d|c d", "a | b"],
    "rle": ["", "1 1", "1 3 4 2", "20 1", " 2  2 9 1"],
    "rle0": ["-", "0 1", "19 1", "0 5 6 1"],
    "boxes": ["", "1 2", "1 2 -3e1 .5", " 1  2 "],
    "p": ["0.5", "1", "0", "0.25", "0.333", "0.0005"],
    "q": ["0.5", "0", "1", "0.75", "0.6671", "0.9993"],
}
ODD = [
    "", " ", "nan", "NaN", "-inf", "Infinity", "1e400", "NA", "None", "null", "<NA>", "text",
    "1,234", "1_000", "0x10", "٣", "½", "50%", "1e", "e5", "-", ".", "+", "--1", "1.2.3", "1 2",
    "1 2 3", "a|", "|", "a||b", "a a", "a b c d", "3.0", "Cat", "cat ", "yes", "1", "0.0", "True",
    "101", "-101", "51", "3.5", "21 1", "20 2", "0 1", "2 0", "5 1 2 1", "1 1 1 1", "-1 2",
    "9999999999999999999 1", "1 nan", "1\t2", "\t1", "\x0b1", "\u00a01", "nan(1)", "9" * 400,
    "tRuE", "1.", "toolongtext", "1 2 3 4 5 6", '"', 'a"b', "a\rb", "x\u2028y", "\ufeff1", "-1",
    "2", "0.2",
]  # fmt: skip
BYTES = list(b',"\n\r \t;|0a1.-\xe9\xff\x00')


def quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@st.composite
def cells(draw: st.DrawFn, name: str, wild: float) -> str:
    odd = draw(st.floats(0, 1)) < wild
    return draw(st.sampled_from(ODD if odd else GOOD[name]))


@st.composite
def files(draw: st.DrawFn, columns: list[str], ids: list[str]) -> bytes:
    """A file that may be good or broken in any of many ways."""
    wild = draw(st.sampled_from([0.0, 0.0, 0.03, 0.3]))
    header = ["id", *columns]
    rows = [[i, *(draw(cells(name, wild)) for name in columns)] for i in ids]
    changes = draw(st.lists(st.sampled_from(CHANGES), max_size=2))
    for change in changes:
        change(draw, header, rows)
    always = draw(st.booleans())
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    lines = []
    for row in [header, *rows]:
        lines.append(
            ",".join(quote(c) if always or any(mark in c for mark in ',"\r\n') else c for c in row)
        )
    text = end.join(lines) + (end if draw(st.booleans()) else "")
    data = (draw(st.sampled_from(["", "", "", "\ufeff"])) + text).encode()
    if draw(st.integers(0, 3)) == 0:
        data = damage(draw, data)
    return data


def damage(draw: st.DrawFn, data: bytes) -> bytes:
    """Some bytes flipped, put in, taken away; or the end cut off."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(changed)))
        kind = draw(st.sampled_from(["flip", "insert", "delete", "cut", "blank"]))
        new = draw(st.sampled_from(BYTES))
        if kind == "flip" and place < len(changed):
            changed[place] = new
        elif kind == "insert":
            changed.insert(place, new)
        elif kind == "delete":
            del changed[place : place + 1]
        elif kind == "cut":
            del changed[place:]
        elif kind == "blank":
            ends = [end.end() for end in re.finditer(rb"[\r\n]", changed)]
            changed[(at := draw(st.sampled_from(ends or [0]))) : at] = draw(
                st.sampled_from([b"\n", b" \n", b"\r\n"])
            )
    return bytes(changed)


def shuffle_rows(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    rows[:] = draw(st.permutations(rows))


def shuffle_columns(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    order = draw(st.permutations(range(len(header))))
    for row in (header, *rows):
        row[:] = [row[place] for place in order if place < len(row)]


def repeat_row(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    if rows:
        rows.insert(draw(st.integers(0, len(rows))), list(draw(st.sampled_from(rows))))


def drop_row(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    if rows:
        del rows[draw(st.integers(0, len(rows) - 1))]


def change_id(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    if rows and "id" in header:
        row = draw(st.sampled_from(rows))
        row[min(header.index("id"), len(row) - 1)] = draw(
            st.sampled_from(["", "zz", "1", "1.0", " 1", "01", "0x1", "+1"])
        )


def add_column(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    place = draw(st.integers(0, len(header)))
    header.insert(place, draw(st.sampled_from(["", "extra", "num", "ID", "Unnamed: 0"])))
    for row in rows:
        row.insert(place, draw(st.sampled_from(["", "0", "é", "a,b"])))


def drop_column(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    place = draw(st.integers(0, len(header) - 1))
    for row in (header, *rows):
        del row[place : place + 1]
    if not header:
        header.append("id")


def lengthen_row(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    if rows:
        draw(st.sampled_from(rows)).append(draw(st.sampled_from(["", "1"])))


def shorten_row(draw: st.DrawFn, header: list[str], rows: list[list[str]]) -> None:
    if rows:
        row = draw(st.sampled_from(rows))
        del row[-1:]
        row[:] = row or ["x"]


CHANGES = [
    shuffle_rows, shuffle_rows, shuffle_columns, repeat_row, drop_row, change_id, add_column,
    drop_column, lengthen_row, shorten_row,
]  # fmt: skip
