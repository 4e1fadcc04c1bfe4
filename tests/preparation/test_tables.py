"""Tables: cells stay as they are, and files that are not tables are refused in words."""

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.errors import Invalid
from app.preparation.from_table.tables import read_table


def test_cells_of_a_csv_file_stay_the_text_that_they_are(tmp_path):
    text = 'a,b\n007,"x, y"\n1.50,NA\n,é\n'
    plain, packed = tmp_path / "t.csv", tmp_path / "t.csv.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))

    for file in (plain, packed):
        table = read_table(file)
        assert table.to_numpy().tolist() == [["007", "x, y"], ["1.50", "NA"], ["", "é"]]


def test_a_parquet_file_is_read_with_its_types(tmp_path):
    file = tmp_path / "t.parquet"
    frame = pd.DataFrame(
        {"n": [1, 2], "x": [0.1, None], "b": [True, False], "t": pd.to_datetime(["2024-01-02"] * 2)}
    )
    frame.to_parquet(file)

    table = read_table(file)

    assert table.iloc[0].tolist() == ["1", "0.1", "True", "2024-01-02 00:00:00"]
    assert table.iloc[1]["x"] == ""


@pytest.mark.parametrize(
    ("index", "columns"),
    [(pd.Index(["x", "y"], name="key"), ["key", "n"]), (pd.Index([7, 9]), ["n"])],
)
def test_an_index_with_a_name_is_a_column_of_a_parquet_file(tmp_path, index, columns):
    file = tmp_path / "t.parquet"
    pd.DataFrame({"n": [1, 2]}, index=index).to_parquet(file)

    table = read_table(file)

    assert list(table.columns) == columns
    assert list(table.index) == [0, 1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "name every column"),
        (b"a,b\n", "no rows"),
        (b"a,,b\n1,2,3\n", "name every column"),
        (b"a,b,a\n1,2,3\n", "two columns are called 'a'"),
        (b"a,b\n\xff\xfe,1\n", "cannot be read"),
        (b"a," + b"b" * 200_000 + b"\n1,2\n", "cannot be read as a table"),
        (b"a,b\n1,2\n3\n4,5,6\n", "cannot be read as a table: .*saw 3\\.$"),
        ("a,b\n1,2\n".encode("utf-16"), "as a table: the file is UTF-16, not UTF-8: save it as"),
        ("a,b\n1,2\n".encode("utf-16-le"), "as a table: the file looks like UTF-16, not UTF-8"),
        (b"a,b\n\xe9,1\n", "as a table: byte 0xe9 in line 2 is not UTF-8"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "is an Excel workbook: save it as CSV"),
        (b"PK\x03\x04\x14\x00[Content_Types].xml\x8a", "is an Excel workbook: save it as CSV"),
        (b"PAR1" + bytes(100), "is a Parquet file"),
        (b"a,b\n1,2,3\n4,5,6\n", "more cells than the first line has names"),
    ],
)
def test_what_is_no_table_is_said(tmp_path, data, words):
    file = tmp_path / "t.csv"
    file.write_bytes(data)

    with pytest.raises(Invalid, match=words):
        read_table(file)


def test_a_character_at_the_end_of_the_first_bytes_may_be_cut(tmp_path):
    file = tmp_path / "t.csv"
    for blanks in range(3):
        file.write_text("b" * blanks + "é" * 40_000 + ",y\n1,2\n", encoding="utf-8")
        assert read_table(file)["y"].tolist() == ["2"]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(Invalid, match="is not a file"):
        read_table(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    "description",
    ["{}", "[]", '{"index_columns": ["gone"], "columns": [], "column_indexes": []}',
     '{"index_columns": [], "columns": [], "column_indexes": [], "attributes": 5}'],
)  # fmt: skip
def test_a_parquet_file_that_describes_itself_wrongly_is_said(tmp_path, description):
    table = pa.table({"a": [1, 2]}).replace_schema_metadata({"pandas": description})
    pq.write_table(table, tmp_path / "t.parquet")

    with pytest.raises(Invalid, match="cannot be read as a table"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("ending", ["csv.zip", "csv.xz", "tar", "csv.zst"])
def test_no_other_packing_than_gzip_is_guessed_from_a_name(tmp_path, ending):
    file = tmp_path / f"t.{ending}"
    file.write_text("a,b\n1,2\n")

    assert read_table(file).to_numpy().tolist() == [["1", "2"]]
