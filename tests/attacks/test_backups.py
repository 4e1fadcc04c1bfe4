"""Backups that somebody rewrote, digests and all: refused in a sentence, and no row is restored."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.services.operations.backup_format import LARGEST_MANIFEST, BadBackup, verified
from app.services.operations.restore import restore
from app.settings import Settings
from app.storage.database.database import Database
from app.storage.database.dump import tables_with_rows
from app.storage.database.jsonl import read_batches, read_lines
from tests.factories import write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer

VERSIONS = "competition_version"
BLOB_LIST = "blobs.jsonl.gz"
DEEP = b"[" * 200_000 + b"\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("whole")
    origin = PodiumServer(home / "origin")
    folder = write_competition(home / "folders" / "tiny")
    for arguments in (["import", "folder", str(folder)], ["backup", str(home / "backup")]):
        run_podium(arguments, env=origin.environment, capture_output=True, check=True)
    return home / "backup"


@pytest.fixture
def backup(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy to change. Once the test has changed it, it is refused, and no row is there."""
    yield Path(shutil.copytree(whole, tmp_path / "backup"))
    settings = Settings(data_dir=tmp_path / "new", database_url="", blobs_url="")
    settings.data_dir.mkdir()
    with pytest.raises(BadBackup):
        restore(settings, tmp_path / "backup", lambda *_: None)
    if (settings.data_dir / "podium.db").exists():
        database = Database(settings.database_url)
        with database.read() as session:
            assert tables_with_rows(session.connection()) == []
        database.close()


def change(backup: Path, by: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest."""
    file = backup / "manifest.json"
    manifest = json.loads(file.read_text())
    by(manifest)
    file.write_text(json.dumps(manifest))


def table_of(manifest: dict[str, Any], name: str = VERSIONS) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in manifest["tables"] if each["name"] == name)
    return found


def put(file: Path, data: bytes, entry: dict[str, Any]) -> None:
    """Write a file, and what the manifest says of it."""
    file.write_bytes(data)
    entry |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def row_of(backup: Path) -> list[Any]:
    row: list[Any] = json.loads(gzip.decompress(rows_file(backup).read_bytes()).splitlines()[0])
    return row


def rows_file(backup: Path) -> Path:
    return backup / "tables" / f"{VERSIONS}.jsonl.gz"


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


ROWS: dict[str, Callable[[list[Any]], bytes]] = {
    "no JSON": lambda row: b"nonsense\n",
    "deep": lambda row: DEEP,
    "short": lambda row: lines(row[:-1]),
    "twice": lambda row: lines(row, row),
    "objects": lambda row: lines([{} for _ in row]),
    "an object": lambda row: lines({"id": 1}),
    "a number": lambda row: lines(1),
    "no time": lambda row: lines([*row[:-1], "yesterday"]),
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_that_do_not_fit_their_table(backup: Path, kind: str) -> None:
    data = gzip.compress(ROWS[kind](row_of(backup)))
    change(backup, lambda document: put(rows_file(backup), data, table_of(document)["file"]))


def test_rows_that_are_not_packed(backup: Path) -> None:
    change(backup, lambda document: put(rows_file(backup), b"rows", table_of(document)["file"]))


@pytest.mark.parametrize("data", [DEEP, b'{"a": 1}\n', b'["../../../../etc/passwd", 3]\n', b"[]\n"])
def test_a_list_of_stored_files_that_lists_none(backup: Path, data: bytes) -> None:
    packed = gzip.compress(data)
    change(backup, lambda document: put(backup / BLOB_LIST, packed, document["blobs"]))


def test_a_list_of_one_stored_file_again_and_again(backup: Path) -> None:
    """A backup of 500 kB that named a file two million times took 780 MB and minutes."""
    line = gzip.decompress((backup / BLOB_LIST).read_bytes()).splitlines(keepends=True)[0]

    def repeat(document: dict[str, Any]) -> None:
        put(backup / BLOB_LIST, gzip.compress(line * 100_000), document["blobs"])
        document["blobs"]["rows"] = 100_000

    change(backup, repeat)
    tracemalloc.start()
    try:
        with pytest.raises(BadBackup, match="stands twice in it"):
            verified(backup, lambda *_: None)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("tells", [True, False])
def test_a_list_without_a_file_that_a_row_names(backup: Path, tells: bool) -> None:
    listed = gzip.decompress((backup / BLOB_LIST).read_bytes()).splitlines(keepends=True)
    shutil.rmtree(backup / "blobs" / json.loads(listed[-1])[0][:2])

    def leave_out(document: dict[str, Any]) -> None:
        put(backup / BLOB_LIST, gzip.compress(b"".join(listed[:-1])), document["blobs"])
        document["blobs"]["rows"] -= tells

    change(backup, leave_out)


def test_fewer_rows_than_the_manifest_says(backup: Path) -> None:
    file = backup / "tables" / "version_file.jsonl.gz"
    kept = gzip.decompress(file.read_bytes()).splitlines(keepends=True)[:-1]
    packed = gzip.compress(b"".join(kept))
    change(backup, lambda document: put(file, packed, table_of(document, "version_file")["file"]))


def test_a_line_that_is_packed_more_tightly_than_one_of_podiums(tmp_path: Path) -> None:
    for size, is_read in ((15 << 20, True), (17 << 20, False)):
        file = tmp_path / str(size)
        file.write_bytes(gzip.compress(b'"' + b"a" * size + b'"\n'))
        if is_read:
            assert [len(line) for line in read_lines(file)] == [size]
        else:
            with pytest.raises(ValueError, match="a line has more than"):
                list(read_lines(file))


def test_long_rows_are_not_all_in_memory_at_once(tmp_path: Path) -> None:
    """As 500 rows in one insert, 4 MB of a backup took 1 GB, and more could have taken 8."""
    file = tmp_path / "rows.jsonl.gz"
    line = b'"' + b"a" * (1 << 20) + b'"\n'
    file.write_bytes(gzip.compress(60 * line + 1200 * b'"short"\n'))
    counts = [len(batch) for batch in read_batches(file)]
    assert counts == [*[4] * 15, 500, 500, 200]


def test_a_table_that_is_left_out(backup: Path) -> None:
    change(backup, lambda document: document["tables"].remove(table_of(document)))
    rows_file(backup).unlink()


def test_a_table_that_no_podium_has(backup: Path) -> None:
    change(backup, lambda document: table_of(document).update(name="secrets"))
    rows_file(backup).rename(backup / "tables" / "secrets.jsonl.gz")


def test_a_column_that_no_table_has(backup: Path) -> None:
    change(backup, lambda document: table_of(document)["columns"].update({'x"; --': "text"}))


@pytest.mark.parametrize(
    "text", [DEEP.decode(), "null", "[]", '{"format": []}', "", " " * LARGEST_MANIFEST + "{}"]
)
def test_a_manifest_that_is_none(backup: Path, text: str) -> None:
    (backup / "manifest.json").write_text(text)


@pytest.mark.parametrize("name", ["manifest.json", BLOB_LIST, f"tables/{VERSIONS}.jsonl.gz"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_stands_in_place_of_a_file_is_not_waited_for(
    backup: Path, name: str, make: Callable[[Path], None]
) -> None:
    (backup / name).unlink()
    make(backup / name)


@pytest.mark.parametrize("name", [BLOB_LIST, f"tables/{VERSIONS}.jsonl.gz", "blobs"])
def test_a_file_of_holes_is_not_read_to_its_end(backup: Path, name: str) -> None:
    named = backup / name
    os.truncate(next(named.glob("*/*")) if named.is_dir() else named, 1 << 43)
