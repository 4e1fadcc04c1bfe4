"""Only files that no row names, and that are old, are removed; and only by their own database."""

from __future__ import annotations

import os
import shutil
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from app.services.operations.collect_garbage import (
    Removable,
    remove,
    sweep,
    unreferenced,
    unused_directories,
)
from app.services.operations.start_checks import OWNER_FILE, ForeignStore
from app.services.runtime.context import Context
from app.services.submissions import pending_uploads
from app.storage.blobs.disk import DiskBlobs
from app.storage.queries.pending_uploads import TABLE
from app.units import HOUR
from tests.storage.make import World

AGE = 24.0  # hours
NAME = "0123456789abcdef" * 2  # of a version's directory


def put(context: Context, body: bytes, *, hours: float) -> tuple[str, Path]:
    """A stored file that was changed so many hours ago."""
    assert isinstance(context.blobs, DiskBlobs)
    blob = context.blobs.put(body)
    path = context.blobs.path(blob.sha256)
    make_old(path, hours)
    return blob.sha256, path


def make_old(path: Path, hours: float) -> None:
    moment = time.time() - hours * HOUR
    os.utime(path, (moment, moment))


def found(context: Context, age: float = AGE) -> list[Removable]:
    return unreferenced(context.settings, age_hours=age)


def test_old_files_without_a_row_are_found_and_removed(context: Context, here: World) -> None:
    _, orphan = put(context, b"orphan", hours=25)
    named, kept = put(context, b"named", hours=25)
    _, young = put(context, b"young", hours=23)
    here.submit(sha256=named, bytes=5)

    removable = found(context)
    removed = remove(context.settings, removable, age_hours=AGE)

    assert [(one.kind, one.path, one.bytes) for one in removable] == [("blob", str(orphan), 6)]
    assert removed == removable
    assert [path.exists() for path in (orphan, kept, young)] == [False, True, True]
    assert found(context) == []


def test_uploads_of_kaggles_clients_that_expired_are_removed(context: Context, here: World) -> None:
    """They stayed until somebody uploaded another file in that way."""
    names = {}
    now = datetime.now(UTC)
    for hours in (-25.0, -23.0, 1.0):  # until it expires
        upload = context.blobs.new_upload()
        upload.write(b"id,target")
        pending_uploads.add(context, upload, str(hours), here.run.id, now + timedelta(hours=1))
        pending = pending_uploads.find(context, str(hours), here.run.id)
        assert pending is not None
        names[hours] = pending.name
        (path,) = context.settings.data_dir.rglob(pending.name)
        make_old(path, hours=26)
    for hours, name in names.items():
        expires = update(TABLE).where(TABLE.c.name == name)
        expires = expires.values(until=now + timedelta(hours=hours))
        context.database.write(lambda session, expires=expires: session.execute(expires).close())

    assert [Path(one.path).name for one in found(context)] == [names[-25.0]]


def test_a_new_file_is_not_old_for_a_machine_whose_clock_is_ahead(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    context.blobs.put(b"its row is not written yet")
    directory = context.settings.data_dir / "competitions/a-slug" / NAME
    directory.mkdir(parents=True)
    ahead = time.time() + 3 * AGE * HOUR
    monkeypatch.setattr(time, "time", lambda: ahead)

    assert found(context) == []


def test_a_file_that_was_stored_again_meanwhile_stays(context: Context) -> None:
    _, path = put(context, b"again", hours=25)
    removable = found(context)
    assert len(removable) == 1

    context.blobs.put(b"again")

    assert remove(context.settings, removable, age_hours=AGE) == []
    assert path.read_bytes() == b"again"


def test_files_that_cannot_be_removed_keep_no_others(
    context: Context, caplog: pytest.LogCaptureFixture
) -> None:
    moment = time.time() - 25 * HOUR
    orphans = sorted(put(context, b"orphan %d" % number, hours=25)[1] for number in range(6))
    unreadable, directory, *others = orphans
    unreadable.unlink()
    unreadable.symlink_to(unreadable)  # it cannot be opened, for root either
    os.utime(unreadable, (moment, moment), follow_symlinks=False)
    directory.unlink()
    directory.mkdir()
    make_old(directory, 25)

    removed = sweep(context)

    assert [one.path for one in removed] == [str(path) for path in others]
    told = [record for record in caplog.records if record.message == "an old file stays"]
    assert [vars(record)["path"] for record in told] == [str(unreadable), str(directory)]


def test_directories_of_versions_without_a_row_are_removed(context: Context) -> None:
    left = context.settings.data_dir / "competitions" / "bikes" / NAME
    left.mkdir(parents=True)
    (left / "train.csv").write_text("id\n1\n")
    admins = left.with_name("public")  # where PODIUM_COMPETITIONS_DIR is the same directory
    admins.mkdir()
    make_old(admins, 25)
    assert found(context) == []
    make_old(left, 25)

    (one,) = sweep(context)

    assert (one.kind, one.path, one.bytes) == ("version", str(left), 5)
    assert not left.exists()
    assert admins.exists()


def test_a_sweep_goes_on_while_another_one_removes_directories(context: Context) -> None:
    root = context.settings.data_dir / "competitions"
    left, trash = root / "bikes" / NAME, context.settings.data_dir / "trash"

    def make_and_remove() -> None:
        for _ in range(20):
            for number in range(100):
                (left / str(number)).mkdir(parents=True)
            make_old(left, 25)
            left.rename(trash)  # as a sweep does
            shutil.rmtree(trash)

    other = threading.Thread(target=make_and_remove)
    other.start()
    with context.database.read() as session:
        while other.is_alive():
            for one in unused_directories(session, root, time.time()):
                assert one.path == str(left)
    other.join()


def test_another_databases_files_are_never_removed(context: Context) -> None:
    _, path = put(context, b"orphan", hours=25)
    assert isinstance(context.blobs, DiskBlobs)
    (context.blobs.root / OWNER_FILE).write_text("another database")

    with pytest.raises(ForeignStore, match="Nothing was removed"):
        sweep(context)

    assert path.exists()
