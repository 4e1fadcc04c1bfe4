"""Backups by an older Podium: without later tables and columns, and with all of their own."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import compress
from pathlib import Path

import pytest

from app.services.operations.backup_format import BadBackup
from app.services.operations.restore import restore
from app.storage.database import migrations
from app.storage.database.database import Database
from app.storage.database.dump import columns_of_tables, tables_with_rows
from app.storage.database.jsonl import read_lines, write_lines
from app.storage.queries import competitions
from tests.services.operations.conftest import change_manifest, settings, silent

OLD = "0005"  # a schema


def make_older(backup: Path, scratch: Path) -> None:
    """Rewrite a backup as a Podium of schema OLD made it: without later tables and columns."""
    (scratch / "old").mkdir()
    url = f"sqlite:///{scratch / 'old' / 'podium.db'}"
    migrations.upgrade(url, OLD)
    database = Database(url)
    with database.read() as session:
        columns = columns_of_tables(session.connection())
    database.close()
    tables = []
    for table in json.loads((backup / "manifest.json").read_text())["tables"]:
        file = backup / f"tables/{table['name']}.jsonl.gz"
        rows = list(read_lines(file))
        file.unlink()
        if table["name"] in columns:
            kept = [name in columns[table["name"]] for name in table["columns"]]
            written = write_lines(file, (list(compress(row, kept)) for row in rows))
            names = dict(compress(table["columns"].items(), kept))
            tables.append({"name": table["name"], "columns": names, "file": asdict(written)})
    change_manifest(backup, schema=OLD, tables=tables)


@pytest.mark.parametrize("left_out", ["competition_version", "grade"])
def test_a_backup_by_an_older_podium_without_one_of_its_tables_is_refused(
    copy: Path, tmp_path: Path, left_out: str
) -> None:
    make_older(copy, tmp_path)
    tables = json.loads((copy / "manifest.json").read_text())["tables"]
    change_manifest(copy, tables=[one for one in tables if one["name"] != left_out])
    (copy / f"tables/{left_out}.jsonl.gz").unlink()
    new = settings(tmp_path / "new")

    with pytest.raises(BadBackup, match=f"not those of schema {OLD}, in {left_out}. No row was"):
        restore(new, copy, silent)

    database = Database(new.database_url)
    with database.read() as session:
        assert tables_with_rows(session.connection()) == []
    database.close()


@pytest.mark.parametrize("is_migrated", [False, True])
def test_a_backup_by_an_older_podium_is_brought_up_to_date(
    copy: Path, tmp_path: Path, is_migrated: bool
) -> None:
    make_older(copy, tmp_path)
    new = settings(tmp_path / "new")
    if is_migrated:
        new.data_dir.mkdir()
        migrations.upgrade(new.database_url)

    restore(new, copy, silent)

    database = Database(new.database_url)
    with database.read() as session:
        latest = competitions.current_version(session, "tiny")
    assert latest is not None
    assert latest.number == 1
    assert not migrations.differences(database)
    database.close()
