"""A process that starts sweeps what dead ones left, and nothing that living ones are writing."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.errors import DamagedFile, StoreAway
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.store import Blob

DATA = b"id,target\n1,2\n"
BLOB = Blob(hashlib.sha256(DATA).hexdigest(), len(DATA))
CAN_LINK = pytest.mark.parametrize("can_link", [True, False], ids=["link", "copy"])


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    file = tmp_path / "staged.csv"
    file.write_bytes(DATA)
    return file


def on_another_disk(*_: object, **__: object) -> None:
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


def calling_first(
    monkeypatch: pytest.MonkeyPatch, what: Any, name: str, do: Callable[[], object]
) -> None:
    """Let a function of the system first do this."""
    function = getattr(what, name)

    def both(*arguments: Any, **more: Any) -> Any:
        do()
        return function(*arguments, **more)

    monkeypatch.setattr(what, name, both)


@CAN_LINK
def test_an_import_is_stored_while_another_server_starts(
    store: DiskBlobs, staged: Path, monkeypatch: pytest.MonkeyPatch, can_link: bool
) -> None:
    starting, swept = DiskBlobs(store.root), []
    if not can_link:
        monkeypatch.setattr(os, "link", on_another_disk)
    # The moment between the file under its first name and the blob.
    calling_first(monkeypatch, os, "utime", lambda: swept.append(starting.sweep()))

    store.put_file(staged, BLOB)

    assert set(swept) == {0}
    assert store.path(BLOB.sha256).read_bytes() == DATA
    assert starting.sweep() == 0


@CAN_LINK
def test_an_import_that_breaks_off_leaves_nothing_to_sweep(
    store: DiskBlobs, staged: Path, monkeypatch: pytest.MonkeyPatch, can_link: bool
) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    if not can_link:
        monkeypatch.setattr(os, "link", on_another_disk)
    calling_first(monkeypatch, os, "utime", fail)

    with pytest.raises((OSError, StoreAway), match="error"):
        store.put_file(staged, BLOB)

    assert not store.path(BLOB.sha256).exists()
    assert store.sweep() == 0


def test_a_copy_of_other_bytes_is_not_stored(
    store: DiskBlobs, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", on_another_disk)
    staged.write_bytes(DATA.swapcase())

    with pytest.raises(DamagedFile, match="changed while it was stored"):
        store.put_file(staged, BLOB)

    assert not store.path(BLOB.sha256).exists()
    assert store.sweep() == 0


def test_a_store_is_checked_while_another_server_starts(
    store: DiskBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = DiskBlobs(store.root)
    calling_first(monkeypatch, Path, "unlink", starting.sweep)
    store.check()
