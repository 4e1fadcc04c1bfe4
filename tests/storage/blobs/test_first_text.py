"""The first text of a file is on the disk before anybody acts on it, whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from app.storage.blobs.first_text import keep_first_text


def test_bytes_are_synced_before_the_name_and_the_name_before_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, synced, sync = tmp_path / "store", [], os.fsync

    def record(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append((path == tmp_path, path != tmp_path and path.read_text(), file.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)

    assert keep_first_text(file, "an identity") == "an identity"
    assert synced == [(False, "an identity", False), (True, False, True)]
    assert keep_first_text(file, "another") == "an identity"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("failing", ["fsync", "link"])
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(OSError, match="space"):
        keep_first_text(tmp_path / "store", "an identity")
    assert list(tmp_path.iterdir()) == []
