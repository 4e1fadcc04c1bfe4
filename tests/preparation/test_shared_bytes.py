"""A second name of a file: one copy of its bytes where the file system can, otherwise another."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.preparation.shared_bytes import share
from tests.storage.disks import small_disk

BYTES = b"bytes" * 100_000


def test_the_bytes_are_the_same(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(BYTES)

    share(source, target)

    assert target.read_bytes() == BYTES
    source.unlink()
    assert target.read_bytes() == BYTES


def test_a_link_is_followed(tmp_path: Path) -> None:
    source, link, target = tmp_path / "source", tmp_path / "link", tmp_path / "target"
    source.write_bytes(BYTES)
    link.symlink_to(source)

    share(link, target)

    assert not target.is_symlink()
    assert target.read_bytes() == BYTES


def test_another_file_system_gets_a_copy(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(BYTES)
    with small_disk(tmp_path / "disk", 1024) as disk:
        share(source, disk / "target")

        assert (disk / "target").read_bytes() == BYTES
        assert (disk / "target").stat().st_nlink == source.stat().st_nlink == 1


def test_what_is_there_stays(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(BYTES)
    target.write_bytes(b"others")

    with pytest.raises(FileExistsError):
        share(source, target)

    assert target.read_bytes() == b"others"
