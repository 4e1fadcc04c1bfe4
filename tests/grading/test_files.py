"""Files as a whole: encodings, foreign formats, headers, malformed rows, and what is harmless."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.grading.make import accepted, checker, codes, csv, numbers, only_violation, refusal

GOOD = b"id,x\na,1\nb,2\nc,3\n"


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        b"\xef\xbb\xbf" + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        GOOD.rstrip(b"\n"),
        b'"id","x"\n"a","1"\n"b","2"\n"c","3"',
        b"x,id\n1,a\n2,b\n3,c\n",
        b"id,x\nc,3\na,1\nb,2\n",
        b"id,x\na, 1\nb,2 \nc,\t3\n",
        b'id,x\na," 1"\nb,2.0\nc,3e0\n',
    ],
    ids=[
        "plain", "BOM", "CRLF", "CR only", "no final newline", "quotes", "other column order",
        "other row order", "spaces around numbers", "quoted space",
    ],
)  # fmt: skip
def test_it_accepts_every_common_way_of_writing_the_same_table(data):
    judge = checker()

    assert judge.check_fast(data) is not None
    assert numbers(judge, data) == [1.0, 2.0, 3.0]
    assert judge.check(data).warnings == ()


def test_a_quoted_header_alone_is_nothing_unusual():
    judge = checker()
    data = b'"id","x"\na,1\nb,2\nc,3\n'

    assert judge.check_fast(data) is not None
    assert numbers(judge, data) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_line_may_be_longer_than_what_is_read_at_once(quote):
    judge = checker('x = { kind = "text" }')
    longest = "long " * 500_000
    data = f"id,x\na,k\nb,{quote}{longest}{quote}\nc,m\n".encode()

    assert judge.check_fast(data) is not None
    assert accepted(judge, data).decoded.others["x"].tolist() == ["k", longest, "m"]


def lent(data):
    return lambda: data


@pytest.mark.parametrize(("rows", "block"), [(400, 1 << 18), (9000, 1 << 20)])
def test_a_line_end_in_quotes_keeps_its_line_feed_where_the_reader_splits_the_file(rows, block):
    # Files of less than 8 MiB are read in blocks of 256 KiB, larger ones in blocks of 1 MiB.
    judge = checker('x = { kind = "text" }', ids=[str(row) for row in range(rows)])
    texts = ["k" * 1000] * rows
    row = block // 1010
    before = "id,x\n" + "".join(f"{i},{texts[i]}\n" for i in range(row)) + f'{row},"'
    texts[row] = "l" * (block - 1 - len(before)) + "\r\nm"
    after = "".join(f"{i},{texts[i]}\n" for i in range(row + 1, rows))
    data = f'{before}{texts[row]}"\n{after}'.encode()
    assert data[block - 1 : block + 1] == b"\r\n"

    assert accepted(judge, data).decoded.others["x"].tolist() == texts


@pytest.mark.parametrize("wrap", [bytes, memoryview, pa.py_buffer, lent])
def test_it_reads_bytes_views_and_buffers_and_what_gives_bytes(wrap):
    checked = checker().check(wrap(GOOD))

    assert checked.decoded.numbers[:, 0].tolist() == [1.0, 2.0, 3.0]


def test_it_reads_quoted_values_that_hold_commas_quotes_and_line_ends():
    judge = checker('x = { kind = "text" }')
    data = b'id,x\na,"one, two"\nb,"say ""hi"""\nc,"two\r\nlines"\n'

    assert judge.check_fast(data) is not None
    assert accepted(judge, data).decoded.others["x"].tolist() == [
        "one, two",
        'say "hi"',
        "two\r\nlines",
    ]


def test_it_keeps_text_in_any_script():
    judge = checker('x = { kind = "text" }', ids=["é", "Ж", "字"])
    data = "id,x\né,ñ\nЖ,🙂\n字,ß\n".encode()

    assert judge.check_fast(data) is not None
    assert accepted(judge, data).decoded.others["x"].tolist() == ["ñ", "🙂", "ß"]


def test_it_ignores_unknown_columns_with_a_warning():
    judge = checker()
    data = b"id,x,note,note\na,1,k,l\nb,2,m,n\nc,3,o,p\n"

    assert numbers(judge, data) == [1.0, 2.0, 3.0]
    assert judge.check_fast(data) is not None
    (warning,) = judge.check(data).warnings
    assert warning.code.value == "unknown_column"
    assert warning.message == "2 unknown columns were ignored: 'note', 'note'"


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_it_ignores_a_stray_index_column_and_says_how_it_came(name):
    judge = checker()
    data = f"{name},id,x\n0,a,1\n1,b,2\n2,c,3\n".encode()

    assert numbers(judge, data) == [1.0, 2.0, 3.0]
    (warning,) = judge.check(data).warnings
    assert warning.code.value == "unknown_column"
    assert "index=False" in warning.message


def test_it_ignores_blank_lines_with_a_warning():
    judge = checker()
    data = b"\nid,x\na,1\n\nb,2\n  \nc,3\n\n\n"

    assert numbers(judge, data) == [1.0, 2.0, 3.0]
    (warning,) = judge.check(data).warnings
    assert (warning.code.value, warning.message) == ("blank_lines", "5 blank lines were ignored")


def test_one_blank_line_is_told_in_the_singular():
    (warning,) = checker().check(b"id,x\na,1\n\nb,2\nc,3\n").warnings

    assert warning.message == "1 blank line was ignored"


def test_only_so_many_blank_lines_may_stand_before_the_header():
    judge, rows = checker(), b"id,x\na,1\nb,2\nc,3\n"
    most = 2 * 3 + 10_000

    assert numbers(judge, b"\n" * most + rows) == [1.0, 2.0, 3.0]
    violation = only_violation(judge, b"\n" * (most + 1) + rows)
    assert violation.code.value == "not_csv"
    assert violation.message.endswith(f"cannot be read: {most} blank lines stand before it")


def test_blank_lines_do_not_shift_row_numbers():
    assert only_violation(checker(), b"id,x\n\na,1\n\n\nb,two\nc,3\n").row == 2


@pytest.mark.parametrize("data", [b"", b" ", b"\n\r\n \t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
def test_it_refuses_an_empty_file(data):
    assert codes(checker(), data) == ["empty_file"]


@pytest.mark.parametrize("data", [b"id,x", b"id,x\n", b"id,x\r\n\r\n"])
def test_a_header_alone_lacks_rows(data):
    violation = only_violation(checker(), data)

    assert violation.code.value == "row_count"
    assert violation.message == (
        "expected 3 rows, one for every id of the sample submission, found only a header"
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GOOD.decode().encode("utf-16"), "UTF-16"),
        (GOOD.decode().encode("utf-16-be"), "UTF-16"),
        (GOOD.decode().encode("utf-16-le"), "UTF-16"),
        (b"\xfe\xff" + GOOD.decode().encode("utf-16-be"), "UTF-16"),
        (GOOD.decode().encode("utf-32"), "UTF-32"),
        (GOOD.decode().encode("utf-32-le"), "UTF-32"),
        (GOOD.decode().encode("utf-32-be"), "UTF-32"),
        (b"id,x\na,1\nb\xe9,2\nc,3\n", "byte 0xe9 in line 3"),
        (b"id,x\ra,1\rb\xe9,2\rc,3\r", "byte 0xe9 in line 3"),
        (b"id,x,note\na,1,\xe9\nb,2,\nc,3,\n", "byte 0xe9 in line 2"),
        (b"id,x\na,1\nb,2\x00\nc,3\n", "line 3 holds a NUL byte"),
        (b"id,x,note\na,1,\x00\nb,2,\nc,3,\n", "line 2 holds a NUL byte"),
    ],
)
def test_it_refuses_what_is_not_utf8(data, words):
    violation = only_violation(checker(), data)

    assert violation.code.value == "encoding"
    assert words in violation.message


def zipped(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, GOOD)
    return buffer.getvalue()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"id": ["a"], "x": [1.0]}), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(GOOD, mtime=0), "gzip"),
        (pa.compress(GOOD, codec="zstd", asbytes=True), "zstd"),
        (bz2.compress(GOOD), "bzip2"),
        (lzma.compress(GOOD), "xz"),
        (zipped("submission.csv"), "zip archive"),
        (zipped("xl/workbook.xml"), "Excel"),
        (zipped("[Content_Types].xml"), "Excel"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "Excel"),
        (parquet(), "Parquet"),
        (b"<!DOCTYPE html><html><body>Log in</body></html>", "web page"),
        (b'\n<?xml version="1.0"?>\n<rows/>', "XML"),
        (b'[{"id": "a", "x": 1}]', "JSON"),
        (b'{"id": ["a"], "x": [1]}', "JSON"),
        (b"id;x\na;1\nb;2\nc;3\n", "semicolons, not commas: expected the header id,x"),
        (b"id\tx\na\t1\nb\t2\nc\t3\n", "tabs"),
        (b"id|x\na|1\nb|2\nc|3\n", "vertical bars"),
        (b'"id";"x"\n"a";"1"\n', "semicolons"),
    ],
)
def test_it_names_the_format_of_a_file_that_is_no_csv(data, words):
    violation = only_violation(checker(), data)

    assert violation.code.value == "not_csv"
    assert words in violation.message


def test_it_refuses_short_and_long_rows_with_the_first_row_and_all_counted():
    violation = only_violation(checker(ids=list("abcd")), b"id,x\na,1\nb\nc,3,4\nd,4\n")

    assert violation.code.value == "not_csv"
    assert violation.row == 2
    assert violation.message == (
        "2 rows have not as many values as the header, first in row 2: expected 2 values, found 1"
    )
    assert violation.examples == ("b", "c,3,4")


def test_it_explains_a_trailing_comma():
    violation = only_violation(checker(), b"id,x\na,1,\nb,2,\nc,3,\n")

    assert (violation.code.value, violation.row) == ("not_csv", 1)
    assert "the comma at the end of the line is one too many" in violation.message


def test_it_explains_thousands_separators_without_quotes():
    violation = only_violation(checker(), b"id,x\na,1\nb,1,234\nc,3\n")

    assert (violation.code.value, violation.row) == ("not_csv", 2)
    assert "must stand in quotes" in violation.message


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (b'id,x\na,1\nb,"2\nc,3\n', 2),
        (b'id,x\na,1\nb,2\nc,"3', 3),
        (b'id,x\na,1\nb,2\nc,"3\n', 3),
        (b'id,x\na,1\nb,2\nc,"3""\n', 3),
        (b'id,x\na"x,1\nb,2\nc,"3\n', 3),
    ],
)
def test_it_refuses_a_quote_that_is_never_closed(data, row):
    found = {v.code.value: v for v in refusal(checker(), data).violations}

    assert found["not_csv"].row == row
    assert found["not_csv"].message == (
        f"row {row} cannot be read: a quote is opened and never closed"
    )
    assert "missing_id" not in found


def test_it_refuses_a_header_with_an_open_quote():
    violation = only_violation(checker(), b'id,"x\na,1\n')

    assert (violation.code.value, violation.row) == ("not_csv", 0)


def test_an_open_quote_in_an_ignored_column_is_found_too():
    assert "not_csv" in codes(checker(), b'id,x,y\na,1,2\nb,2,3\nc,3,"4\n')


@pytest.mark.parametrize("cell", [b"", b'""'])
def test_it_refuses_a_record_of_endless_values(cell):
    violation = only_violation(checker(), b"id,x\n" + (cell + b",") * 100_000 + cell + b"\n")

    assert violation.code.value == "not_csv"
    assert "more than 100000 values" in violation.message


def test_it_refuses_missing_columns_one_by_one():
    judge = checker('x = { kind = "number" }\ny = { kind = "number" }')
    found = refusal(judge, b"key,z\na,1\nb,2\nc,3\n").violations

    assert [(v.code.value, v.column) for v in found] == [
        ("missing_column", "id"),
        ("missing_column", "x"),
        ("missing_column", "y"),
    ]
    assert found[0].message == (
        "column 'id' is missing; the first line must be a header with the columns id,x,y"
    )


@pytest.mark.parametrize("name", ["X", " x", "x ", " X "])
def test_it_hints_at_a_column_that_differs_in_case_or_spaces(name):
    violation = only_violation(checker(), csv("1", "2", "3", name=name))

    assert (violation.code.value, violation.column) == ("missing_column", "x")
    assert f"(there is {name!r}: names must agree in case and spaces)" in violation.message


def test_a_file_without_header_lacks_its_columns():
    assert codes(checker(), b"a,1\nb,2\nc,3\n") == ["missing_column", "missing_column", "row_count"]


@pytest.mark.parametrize("times", [2, 3])
def test_it_refuses_a_repeated_column(times):
    rows = [row + f",{value}" * times for row, value in zip(("id", *"abc"), "x123", strict=True)]
    violation = only_violation(checker(), "\n".join(rows).encode())

    assert (violation.code.value, violation.column) == ("duplicate_column", "x")
    assert violation.message == f"column 'x' stands {times} times in the header: keep one"


def test_a_column_without_a_name_is_no_example_where_one_is_missing():
    violation = only_violation(checker(), b",id,y\n0,a,1\n1,b,2\n2,c,3\n")

    assert violation.examples == ("y",)


def test_two_wanted_columns_tell_the_separator():
    judge = checker('x = { kind = "number" }\ny = { kind = "number" }')

    assert "semicolons" in only_violation(judge, b"id;x;z\na;1;1\nb;2;2\nc;3;3\n").message


@pytest.mark.parametrize(("rows", "found"), [(2, "2"), (4, "4"), (20_000, "more than 10006 lines")])
def test_it_counts_rows(rows, found):
    data = b"id,x\n" + b"".join(b"%s,1\n" % (b"abc"[i : i + 1] or b"z") for i in range(rows))
    violations = {v.code.value: v for v in refusal(checker(), data).violations}

    assert violations["row_count"].message == (
        f"expected 3 rows, one for every id of the sample submission, found {found}"
    )


def test_it_reports_all_problems_at_once():
    judge = checker('x = { kind = "number", min = 0 }\ny = { kind = "label", labels = ["k"] }')
    data = b"id,x,y,extra\na,-1,k,\nb,two,q,\nb,nan,k,\nz,,k,\n\n"
    verdict = refusal(judge, data)

    assert [(v.code.value, v.column, v.row) for v in verdict.violations] == [
        ("row_count", None, None),
        ("duplicate_id", "id", 3),
        ("unknown_id", "id", 4),
        ("missing_id", "id", None),
        ("out_of_range", "x", 1),
        ("not_a_number", "x", 2),
        ("not_finite", "x", 3),
        ("missing_value", "x", 4),
        ("unknown_label", "y", 2),
    ]
    assert [w.code.value for w in verdict.warnings] == ["unknown_column", "blank_lines"]


def test_it_says_count_first_row_and_five_examples_of_one_problem():
    ids = [f"r{i}" for i in range(30)]
    cells = ["1"] * 16 + ["oops", "oops", *(f"bad{i}" for i in range(10)), "1", "1"]
    lines = "\n".join(f"{i},{cell}" for i, cell in zip(ids, cells, strict=True))
    violation = only_violation(checker(ids=ids), f"id,x\n{lines}\n".encode())

    assert violation.message == (
        "12 values are not numbers in column 'x', first in row 17: "
        "write plain decimal numbers such as 0.5 or 1e-3"
    )
    assert violation.row == 17
    assert violation.examples == ("oops", "bad0", "bad1", "bad2", "bad3")


@pytest.mark.large
def test_a_single_cell_of_ten_megabytes_is_fine_as_text():
    judge = checker('x = { kind = "text" }')
    long = "y" * 10_000_000

    assert accepted(judge, csv("p", long, "q")).decoded.others["x"][1] == long


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ('x = { kind = "number" }', "not_a_number"),
        ('x = { kind = "boolean" }', "bad_format"),
        ('x = { kind = "label", labels = ["k"] }', "unknown_label"),
        ('x = { kind = "mask", height = 2, width = 2 }', "bad_format"),
        ('x = { kind = "boxes", fields = ["p", "q"] }', "bad_format"),
        ('x = { kind = "text", max_length = 5 }', "bad_format"),
    ],
)
@pytest.mark.large
def test_a_single_cell_of_ten_megabytes_is_refused_with_a_short_example(columns, code):
    good = {"number": "1", "boolean": "1", "label": "k", "mask": "", "boxes": "", "text": "t"}
    cell = next(cell for kind, cell in good.items() if kind in columns)
    violation = only_violation(checker(columns), csv(cell, "y" * 10_000_000, cell))

    assert (violation.code.value, violation.row) == (code, 2)
    assert violation.examples == ("y" * 57 + "...",)
    assert len(violation.message) < 300


@pytest.mark.large
def test_digits_of_ten_megabytes_are_a_number_that_is_not_finite():
    assert codes(checker(), csv("1", "9" * 10_000_000, "1")) == ["not_finite"]
