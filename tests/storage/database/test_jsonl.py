"""Rows that are written to files from one database and loaded into the other stay the same."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Connection, func, insert, inspect, select, text

from app.storage.database import dump, migrations, revisions
from app.storage.database.database import Database
from app.storage.database.jsonl import (
    JsonLinesFile,
    kinds_of,
    load_rows,
    read_batches,
    rows_of,
    write_lines,
)
from app.storage.database.models import Base, Grade, Submission
from tests.postgres import Postgres

MOMENT = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
DOCUMENT = {"b": [1, None, {"ä": 0.1 + 0.2}], "a": 10**20, "": "\U0001f600 \\ \n", "n": None}
SAMPLES: dict[str, list[Any]] = {
    "text": ["'quoted' \"twice\"\n\t\\ ä \U0001f600 \u2028", "plain", ""],
    "integer": [7, 2**31 - 1, 0],
    "real": [0.1 + 0.2, -1.7976931348623157e308, 5e-324],
    "boolean": [True, False, True],
    "instant": [MOMENT, MOMENT.replace(microsecond=0), MOMENT.replace(year=1)],
    "document": [DOCUMENT, [], {}],
    "bytes": [b"\x00\xff'\n", bytes(256), b""],
}
ROWS = 3


def sample(column: Column[Any], kind: str, number: int) -> Any:
    """A value that is hard to convert. Other tables refer to the keys of the first row."""
    words = getattr(column.type, "enums", None)
    if words:
        return words[number % len(words)]
    if column.foreign_keys or column.primary_key or column.name in UNIQUE:
        return number + 1 if kind == "integer" else f"k{number}"
    if column.nullable and number == ROWS - 1:
        return None
    return SAMPLES[kind][number]


UNIQUE = {
    "slug", "number", "content_hash", "digest", "idempotency_key", "seed", "kind", "experiment",
    "competition",
}  # fmt: skip


def fill(connection: Connection) -> None:
    for table in dump.backup_tables():
        kinds = kinds_of(table)
        rows = [
            {c.name: sample(c, kinds[c.name], number) for c in table.columns}
            for number in range(ROWS)
        ]
        connection.execute(insert(table), rows)


@pytest.fixture
def other_url(database_kind: str, postgres: Postgres, tmp_path: Path) -> Any:
    """An empty database of the other kind."""
    if database_kind == "postgresql":
        yield f"sqlite:///{tmp_path / 'other.db'}"
        return
    with postgres.database() as name:
        yield postgres.url(name)


def write_all(database: Database, folder: Path) -> dict[str, JsonLinesFile]:
    folder.mkdir()
    with database.read() as session:
        return {
            table.name: write_lines(folder / table.name, rows_of(session.connection(), table))
            for table in dump.backup_tables()
        }


def load_all(folder: Path, connection: Connection) -> None:
    for table in dump.backup_tables():
        rows = read_batches(folder / table.name)
        assert sum(load_rows(connection, table.name, kinds_of(table), rows)) == ROWS


def test_every_table_goes_to_the_other_database_and_back(
    database: Database, database_url: str, other_url: str, tmp_path: Path
) -> None:
    database.write(lambda session: fill(session.connection()))
    first = write_all(database, tmp_path / "first")
    migrations.fill(
        other_url,
        revisions.newest_revision(),
        lambda c: load_all(tmp_path / "first", c),
        dump.reset_sequences,
    )
    other = Database(other_url)
    second = write_all(other, tmp_path / "second")
    with database.read() as here, other.read() as there:
        for table in dump.backup_tables():
            rows = [
                s.execute(select(table).order_by(*table.primary_key)).all() for s in (here, there)
            ]
            assert rows[0] == rows[1], table.name
    other.close()

    assert {file.rows for file in first.values()} == {ROWS}
    assert first == second
    assert not schema_differs(other_url)


def schema_differs(url: str) -> list[Any]:
    database = Database(url)
    try:
        return migrations.differences(database)
    finally:
        database.close()


def test_new_rows_are_numbered_after_those_that_came(
    database: Database, other_url: str, tmp_path: Path
) -> None:
    database.write(lambda session: fill(session.connection()))
    write_all(database, tmp_path / "first")
    migrations.fill(
        other_url,
        revisions.newest_revision(),
        lambda c: load_all(tmp_path / "first", c),
        dump.reset_sequences,
    )
    other = Database(other_url)
    grades, submissions = Grade.__table__, Submission.__table__

    def one_more(session: Any) -> int:
        row = dict(session.execute(select(grades).limit(1)).mappings().one())
        del row["id"]
        row["version_id"] = ROWS
        return int(session.execute(insert(grades).returning(grades.c.id), row).scalar_one())

    assert other.write(one_more) == ROWS + 1
    with other.read() as session:
        assert session.execute(select(func.count()).select_from(submissions)).scalar_one() == ROWS
        assert "grade" in dump.tables_with_rows(session.connection())
    other.close()


def test_loading_that_fails_leaves_nothing(
    database: Database, other_url: str, tmp_path: Path
) -> None:
    database.write(lambda session: fill(session.connection()))
    write_all(database, tmp_path / "first")

    def break_off(connection: Connection) -> None:
        load_all(tmp_path / "first", connection)
        connection.execute(text("INSERT INTO grade (id) VALUES (1)"))

    with pytest.raises(Exception, match="grade"):
        migrations.fill(other_url, revisions.newest_revision(), break_off, dump.reset_sequences)

    other = Database(other_url)
    with other.read() as session:
        left = set(inspect(session.connection()).get_table_names())
    other.close()
    assert not left & {table.name for table in Base.metadata.sorted_tables}


def test_much_is_written_with_little_memory(database: Database, tmp_path: Path) -> None:
    secrets = Base.metadata.tables["secret"]
    for first in range(0, 10_000, 1000):
        rows = [{"name": f"{first + n:07}", "value": "x" * 4096} for n in range(1000)]
        database.write(lambda session, rows=rows: session.execute(insert(secrets), rows) and None)
    with database.read() as session:
        tracemalloc.start()
        written = write_lines(tmp_path / "much", rows_of(session.connection(), secrets))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert written.rows == 10_000
    assert peak < 12_000_000  # of 41 million bytes
