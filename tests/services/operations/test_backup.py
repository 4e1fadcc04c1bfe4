"""Refused backups: incomplete ones, and folders or databases that must not be overwritten."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.errors import BadSettings, DamagedFile, NotFound, PodiumError, Unavailable
from app.kaggle_api.signed_urls import secret_of
from app.services.login import open_logins
from app.services.operations.backup import ChangedRow, NoBackupHere, back_up
from app.services.operations.backup_format import BadBackup, table_file, verified
from app.services.operations.restore import restore
from app.services.operations.restore_rows import NotEmpty
from app.services.operations.start_checks import ForeignStore, refuse_other_store
from app.services.operations.unfinished_restore import MARK
from app.services.operations.verify import verify
from app.services.operations.verify_progress import VerifyProgress
from app.services.operations.verify_records import CHANGED_RECORD
from app.services.public_log.competition_facts import SALT
from app.services.runtime.context import lock_data_directory, open_context
from app.services.runtime.shared_secret import shared_secret
from app.settings import Settings
from app.storage.database import migrations
from app.storage.database.jsonl import read_lines, write_lines
from app.storage.queries import competitions
from tests.forkserver import PodiumProcess, run_podium
from tests.postgres import CLOSE_OTHERS, Postgres
from tests.s3 import S3Server
from tests.server import PodiumServer
from tests.services.operations.conftest import change_manifest, command, settings, silent

TWO_SIZES = """
    INSERT INTO version_file (version_id, path, sha256, bytes)
    SELECT version_id, 'public/more', sha256, bytes + 1 FROM version_file LIMIT 1
"""


def refusal(tmp_path: Path, backup: Path) -> str:
    """The error of restoring a backup into a new Podium, which must stay empty."""
    with pytest.raises(PodiumError) as refused:
        restore(settings(tmp_path / "new"), backup, silent)
    assert {path.name for path in (tmp_path / "new").iterdir()} <= {"lock"}
    return refused.value.detail


def some_blob(backup: Path) -> Path:
    return next(path for path in sorted((backup / "blobs").rglob("*")) if path.is_file())


def damage(path: Path) -> Path:
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path


def cut(path: Path) -> Path:
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1])
    return path


def remove(path: Path) -> Path:
    path.unlink()
    return path


def add(path: Path) -> Path:
    path.write_text("x")
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: damage(some_blob(b)), "is damaged"),
        (lambda b: cut(some_blob(b)), "is damaged"),
        (lambda b: damage(b / "tables/submission.jsonl.gz"), "is damaged"),
        (lambda b: damage(b / "blobs.jsonl.gz"), "is damaged"),
        (lambda b: remove(some_blob(b)), "is missing"),
        (lambda b: remove(b / "tables/grade.jsonl.gz"), "is missing"),
        (lambda b: remove(b / "blobs.jsonl.gz"), "is missing"),
        (lambda b: add(some_blob(b).parent / "more"), "is not of this backup"),
        (lambda b: add(b / "blobs/more"), "is not of this backup"),
        (lambda b: add(b / "tables/more.jsonl.gz"), "is not of this backup"),
        (lambda b: add(b / "more"), "is not of this backup"),
        (lambda b: remove(b / "manifest.json").parent, "is unfinished"),
        (lambda b: add(b / "manifest.json"), "is damaged"),
        (lambda b: cut(cut(b / "manifest.json")), "is damaged"),
    ],
)
def test_an_incomplete_backup_is_refused_by_file_and_writes_nothing(
    copy: Path, tmp_path: Path, change: Callable[[Path], Path], words: str
) -> None:
    file = change(copy)

    said = refusal(tmp_path, copy)

    assert str(file) in said
    assert words in said


@pytest.mark.parametrize("newer", [{"schema": "9999"}, {"format": 2, "tables": "otherwise"}])
def test_a_backup_by_a_newer_podium_is_refused(
    copy: Path, tmp_path: Path, newer: dict[str, Any]
) -> None:
    change_manifest(copy, podium="9.9.9", **newer)

    assert "was made by Podium 9.9.9" in refusal(tmp_path, copy)


def test_a_damaged_file_that_the_new_place_had_before_is_replaced(
    complete: Path, tmp_path: Path
) -> None:
    source = some_blob(complete)
    there = tmp_path / "new" / "blobs" / source.relative_to(complete / "blobs")
    there.parent.mkdir(parents=True)
    there.write_bytes(b"\0" * source.stat().st_size)

    restore(settings(tmp_path / "new"), complete, silent)
    assert there.read_bytes() == source.read_bytes()
    assert not list((tmp_path / "new" / "tmp").iterdir())


def test_unpacked_files_that_the_new_place_had_before_are_not_read(
    complete: Path, tmp_path: Path
) -> None:
    """They may be why the backup is restored."""
    new = settings(tmp_path / "new")
    origin = complete.parent / "origin" / "competitions"
    shutil.copytree(origin, new.data_dir / "competitions")
    (damaged,) = (new.data_dir / "competitions").glob("*/*/private/answers.csv")
    damage(damaged)
    (new.data_dir / "competitions" / "tiny" / "public").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (new.data_dir / "competitions" / "tiny" / ("a" * 32)).symlink_to(elsewhere)

    restore(new, complete, silent)

    assert elsewhere.is_dir()
    assert [path.name for path in (new.data_dir / "competitions" / "tiny").iterdir()] == ["public"]
    with contextlib.closing(open_context(new, grades=False, validates=False)) as context:
        with context.database.read() as session:
            version = competitions.current_version(session, "tiny")
        assert version is not None
        with context.catalogue.files.lease(version, answers=True) as files:
            assert (files.path / "private" / "answers.csv").is_file()


@pytest.mark.parametrize("place", ["", "inner"])
@pytest.mark.parametrize("name", ["data_dir", "blobs_url"])
def test_a_restore_into_the_backup_itself_leaves_it_as_it_was(
    complete: Path, tmp_path: Path, name: str, place: str
) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(complete, backup)
    inside = backup / place
    where = {"data_dir": inside} if name == "data_dir" else {"blobs_url": inside.as_uri()}
    given = Settings(**{"data_dir": tmp_path / "new", **where})

    with pytest.raises(BadSettings, match=f"PODIUM_{name.upper()} is .* outside the backup"):
        restore(given, backup, silent)

    assert verified(backup, silent)
    assert not (tmp_path / "new").exists()


def test_a_restore_says_into_which_directory_it_went(complete: Path, tmp_path: Path) -> None:
    said = command(PodiumServer(tmp_path / "new"), "restore", str(complete))

    assert said.startswith(f"restored {complete} into {tmp_path / 'new'}: of ")


def test_a_database_with_rows_is_left_alone(complete: Path, tmp_path: Path) -> None:
    new = settings(tmp_path / "new")
    restore(new, complete, silent)
    before = (tmp_path / "new/podium.db").read_bytes()

    with pytest.raises(NotEmpty, match="already, in competition_version, sample_score, version_"):
        restore(new, complete, silent)

    assert (tmp_path / "new/podium.db").read_bytes() == before


def test_a_restored_podium_backs_up_to_the_same_bytes(complete: Path, tmp_path: Path) -> None:
    new = settings(tmp_path / "new")
    first = restore(new, complete, silent)

    second = back_up(new, tmp_path / "again", silent)

    assert (first.tables, first.blobs) == (second.tables, second.blobs)
    assert verified(tmp_path / "again", silent) == second


@pytest.mark.parametrize("signing_keys", [False, True])
def test_no_login_and_no_signed_address_can_be_made_with_a_backup(
    complete: Path, tmp_path: Path, signing_keys: bool
) -> None:
    origin = settings(tmp_path / "origin")
    restore(origin, complete, silent)
    with contextlib.closing(open_context(origin, grades=False, validates=False)) as context:
        open_logins(context)
        secret_of(context)
        shared_secret(context, SALT)
    back_up(origin, tmp_path / "backup", silent, signing_keys=signing_keys)

    secrets = {row[0] for row in read_lines(table_file(tmp_path / "backup", "secret"))}
    assert secrets == {SALT}


@pytest.mark.parametrize("name", ["login-secret", "url-secret"])
def test_secrets_of_logins_in_an_older_backup_are_not_restored(
    copy: Path, tmp_path: Path, name: str
) -> None:
    """A login of then may have been ended since, and its copy would open pages again."""
    file = table_file(copy, "secret")
    rows = [*read_lines(file), [name, "00" * 32]]
    file.unlink()
    written = write_lines(file, rows)
    tables = json.loads((copy / "manifest.json").read_text())["tables"]
    (entry,) = (table for table in tables if table["name"] == "secret")
    entry["file"] = asdict(written)
    change_manifest(copy, tables=tables)

    restore(settings(tmp_path / "new"), copy, silent)

    with contextlib.closing(sqlite3.connect(tmp_path / "new/podium.db")) as database:
        left = {one for (one,) in database.execute("SELECT name FROM secret")}
    assert name not in left


def test_a_restored_podium_owns_no_store_of_one_that_goes_on(
    complete: Path, tmp_path: Path
) -> None:
    goes_on, later = settings(tmp_path / "goes-on"), tmp_path / "later"
    restore(goes_on, complete, silent)
    refuse_other_store(goes_on)  # as a server that starts
    back_up(goes_on, later, silent)
    blobs = (goes_on.data_dir / "blobs").as_uri()
    copy = Settings(data_dir=tmp_path / "copy", database_url="", blobs_url=blobs)
    restore(copy, later, silent)

    with pytest.raises(ForeignStore, match="belong to another database"):
        refuse_other_store(copy)


def test_a_server_in_its_data_directory_is_not_restored_over(
    complete: Path, tmp_path: Path
) -> None:
    lock = lock_data_directory(tmp_path / "new")
    try:
        assert "already runs on" in refusal(tmp_path, complete)
    finally:
        os.close(lock)


def test_a_backup_overwrites_nothing_and_wants_a_podium(complete: Path, tmp_path: Path) -> None:
    origin = settings(complete.parent / "origin")
    (tmp_path / "file").write_text("mine")

    with pytest.raises(NoBackupHere, match="is not empty: name a new folder"):
        back_up(origin, complete, silent)
    with pytest.raises(NoBackupHere, match="cannot be written"):
        back_up(origin, tmp_path / "file", silent)
    with pytest.raises(NotFound, match="There is no Podium to back up"):
        back_up(settings(tmp_path / "nothing"), tmp_path / "empty", silent)

    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_a_database_of_another_schema_is_not_backed_up(tmp_path: Path) -> None:
    old = settings(tmp_path / "old")
    old.data_dir.mkdir()
    migrations.upgrade(old.database_url, "0004")

    with pytest.raises(NoBackupHere, match="schema is at 0004"):
        back_up(old, tmp_path / "backup", silent)

    with pytest.raises(BadBackup, match="is unfinished"):
        verified(tmp_path / "backup", silent)

    migrations.upgrade(old.database_url)
    back_up(old, tmp_path / "backup", silent)
    verified(tmp_path / "backup", silent)


@pytest.mark.filterwarnings("ignore:.*ServerCursor:ResourceWarning")  # of the lost connection
def test_a_database_that_goes_away_makes_no_backup_and_says_what_is_left(
    postgres: Postgres, migrated_postgres: str, tmp_path: Path
) -> None:
    def end_connections(step: str, done: int, total: int) -> None:
        with psycopg.connect(url) as connection:
            connection.execute(CLOSE_OTHERS)

    with postgres.emptied(migrated_postgres) as name:
        url = postgres.url(name)
        settings = Settings(data_dir=tmp_path / "data", database_url=url)
        with pytest.raises(Unavailable, match=r"The backup in .*/b is incomplete.* Remove the"):
            back_up(settings, tmp_path / "b", end_connections)
        gc.collect()


def test_a_lost_file_makes_no_backup(complete: Path, tmp_path: Path) -> None:
    origin = settings(tmp_path / "new")
    restore(origin, complete, silent)
    lost = some_blob(origin.data_dir)
    lost.unlink()

    with pytest.raises(DamagedFile, match=lost.parent.name + lost.name):
        back_up(origin, tmp_path / "again", silent)

    with pytest.raises(BadBackup, match="is unfinished"):
        verified(tmp_path / "again", silent)


def test_a_copy_that_is_not_what_was_copied_makes_no_backup(
    complete: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk may write other bytes than it was given."""
    origin = settings(tmp_path / "new")
    restore(origin, complete, silent)
    copyfile = shutil.copyfile
    monkeypatch.setattr(shutil, "copyfile", lambda *paths: damage(Path(copyfile(*paths))))

    with pytest.raises(DamagedFile, match="has other bytes than the store"):
        back_up(origin, tmp_path / "again", silent)

    with pytest.raises(BadBackup, match="is unfinished"):
        verified(tmp_path / "again", silent)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "UPDATE version_file SET sha256 = '../secrets'",
            "file by '../secrets', which is not a SHA-256",
        ),
        ("UPDATE version_file SET bytes = 'many'", "has 'many' bytes"),
        ("UPDATE version_file SET bytes = bytes + 1", r"has \d+ bytes, and it has \d+"),
        (TWO_SIZES, "Two rows say differently how many bytes the file [0-9a-f]{64} has"),
        ("UPDATE competition_version SET imported_at = 'soon'", "row of competition_version"),
        ("UPDATE competition_version SET files = '{'", "row of competition_version"),
        ("DELETE FROM competition_version", "and competition_version has no row with that id"),
    ],
)
def test_changed_rows_are_named_and_make_no_backup(
    complete: Path, tmp_path: Path, change: str, words: str
) -> None:
    shutil.copytree(complete.parent / "origin", tmp_path / "origin")
    with contextlib.closing(sqlite3.connect(tmp_path / "origin/podium.db")) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(change)

    with pytest.raises(ChangedRow, match=f"{words}.*Somebody changed the database"):
        back_up(settings(tmp_path / "origin"), tmp_path / "backup", silent)

    with pytest.raises(BadBackup, match="is unfinished"):
        verified(tmp_path / "backup", silent)


def test_a_row_of_a_table_that_no_backup_has_refers_to_what_it_likes(
    complete: Path, tmp_path: Path
) -> None:
    shutil.copytree(complete.parent / "origin", tmp_path / "origin")
    with contextlib.closing(sqlite3.connect(tmp_path / "origin/podium.db")) as database, database:
        at = "2026-11-28 12:00:00.000000"
        database.execute(
            "INSERT INTO held_upload VALUES ('n', 'run_gone', 'x.csv', ?, 1, ?, ?)",
            ("0" * 64, at, at),
        )

    back_up(settings(tmp_path / "origin"), tmp_path / "backup", silent)

    verified(tmp_path / "backup", silent)


@pytest.mark.parametrize("change", ["UPDATE version_file SET bytes = 'many'", TWO_SIZES])
@pytest.mark.parametrize("store", ["disk", "s3"])
def test_rows_with_another_size_are_named_by_verify(
    complete: Path,
    tmp_path: Path,
    store: str,
    change: str,
    s3: S3Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    origin = Settings(
        data_dir=tmp_path / "origin", database_url="",
        blobs_url="" if store == "disk" else f"s3://{s3.bucket()}",
    )  # fmt: skip
    restore(origin, complete, silent)
    with contextlib.closing(sqlite3.connect(tmp_path / "origin/podium.db")) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(change)

    progress = VerifyProgress(tmp_path / "progress")
    verify(origin, silent, sample=None, progress=progress)

    found = {one.problem for one in progress.damaged if "a row says that the file" in one.problem}
    assert found
    assert {one.remedy for one in progress.damaged if one.problem in found} == {CHANGED_RECORD}


def test_a_restore_that_is_killed_leaves_no_rows_and_can_be_done_again(
    complete: Path, tmp_path: Path
) -> None:
    target = PodiumServer(tmp_path / "new")
    stored = tmp_path / "new/blobs"
    with PodiumProcess(["restore", str(complete)], env=target.environment) as process:
        deadline = time.monotonic() + 60
        while not stored.exists():
            assert time.monotonic() < deadline
        process.kill()

    restore(settings(tmp_path / "new"), complete, silent)

    assert process.returncode == -signal.SIGKILL
    # Beside them may be a file of `uploads/` that was written when the process was killed.
    assert len([*stored.glob("[0-9a-f][0-9a-f]/*")]) == 6


def test_nothing_begins_where_a_restore_was_killed(complete: Path, tmp_path: Path) -> None:
    target = PodiumServer(tmp_path / "new")
    with PodiumProcess(["restore", str(complete)], env=target.environment) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "new/blobs").exists():
            assert time.monotonic() < deadline
        process.kill()

    for words in (
        ["serve", "--port", str(target.port)],  # it makes the tables
        ["import", "folder", str(tmp_path)],
        ["gc", "--delete", "--older-than", "1"],
    ):
        done = run_podium(
            words, env=target.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 1
        assert f"The restore of {complete} into the data directory" in done.stderr
        assert "run `podium restore` again" in done.stderr
        assert "Admin key" not in done.stdout
    assert not list((tmp_path / "new").glob("blobs/database"))

    restore(settings(tmp_path / "new"), complete, silent)
    target.start()
    try:
        with target.client() as admin:
            assert admin.get("/v1/competitions").json()["items"]
    finally:
        target.stop()


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_restore_that_was_killed_after_its_rows_is_one_that_ended(
    complete: Path, tmp_path: Path, is_killed: bool
) -> None:
    target = PodiumServer(tmp_path / "new")
    restore(settings(tmp_path / "new"), complete, silent)
    assert not (tmp_path / "new" / MARK).exists()
    if is_killed:
        (tmp_path / "new" / MARK).write_text(f"{complete}\n")

    target.start()

    assert target.stop() == 0
    assert not (tmp_path / "new" / MARK).exists()
