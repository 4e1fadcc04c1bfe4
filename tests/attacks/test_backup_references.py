"""Backups rewritten so that a row refers to none: both databases refuse them in words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from app.services.operations.backup import back_up
from app.services.operations.backup_format import BadBackup
from app.services.operations.restore import restore
from app.settings import Settings
from app.storage.database.database import Database
from app.storage.database.dump import tables_with_rows
from tests.attacks.test_backups import change, lines, put, table_of
from tests.factories import write_competition
from tests.forkserver import run_podium
from tests.server import PodiumServer

FILES = "version_file"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup in which one file of a version belongs to a version that is not there."""
    origin = PodiumServer(tmp_path / "origin")
    folder = write_competition(tmp_path / "folders" / "tiny")
    run_podium(
        ["import", "folder", str(folder)], env=origin.environment, capture_output=True, check=True
    )
    back_up(Settings(data_dir=origin.data_dir), tmp_path / "backup", lambda *_: None)
    file = tmp_path / "backup" / "tables" / f"{FILES}.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]

    def refer_to_nothing(document: dict[str, object]) -> None:
        columns = list(table_of(document, FILES)["columns"])
        rows[1][columns.index("version_id")] = 987
        put(file, gzip.compress(lines(*rows)), table_of(document, FILES)["file"])

    change(tmp_path / "backup", refer_to_nothing)
    return tmp_path / "backup"


def test_a_row_that_refers_to_none_is_named(
    backup: Path, empty_database_url: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "new", database_url=empty_database_url, blobs_url="")
    settings.data_dir.mkdir()

    with pytest.raises(BadBackup) as refused:
        restore(settings, backup, lambda *_: None)

    assert str(refused.value).startswith(f"The backup in {backup} was changed: the row of {FILES}")
    assert (
        "refers by version_id to '987', and competition_version has no row with that id. "
        "No row was restored: use another copy of it"
    ) in str(refused.value)
    assert "version_id '987', " in str(refused.value)
    database = Database(empty_database_url)
    with database.read() as session:
        assert tables_with_rows(session.connection()) == []
    database.close()
