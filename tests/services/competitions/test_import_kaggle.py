"""What is written of where an import came from, and how much an archive may unpack to."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from app.errors import BadCompetition, StorageFull
from app.services.competitions.import_kaggle import prepared_copy, source_of_files
from app.services.runtime.context import Context
from tests.factories import write_competition


@pytest.mark.parametrize(("proxy", "asked"), [
    ("", "https://api.kaggle.com"),
    ("http://127.0.0.1:7777", "http://127.0.0.1:7777"),
    ("http://me:secret@proxy.example:3128", "http://proxy.example:3128"),
    ("me:p@ss@proxy.example", "proxy.example"),
])  # fmt: skip
def test_the_password_of_a_proxy_is_not_kept(proxy: str, asked: str) -> None:
    assert source_of_files(proxy) == asked


def archive_that_says(size: int, file: Path, content: bytes) -> Path:
    """An archive of one file whose directory says that it has so many bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.csv", content)
        archive.infolist()[0].file_size = size
    return file


def with_prepare(folder: Path) -> Path:
    """A competition whose prepare.py gets the unpacked files."""
    write_competition(folder)
    (folder / "prepare.py").write_text("def prepare(raw, public, private):\n    pass\n")
    return folder


def test_an_archive_for_which_the_disk_has_no_room_is_not_unpacked(
    context: Context, tmp_path: Path
) -> None:
    archive = archive_that_says(1 << 50, tmp_path / "archive", b"x")
    folder = with_prepare(tmp_path / "bikes")

    with pytest.raises(StorageFull, match="no room for 1,125,899,906,842,624 more bytes"):
        prepared_copy(context, folder, archive, tmp_path / "scratch", print)

    assert not (tmp_path / "scratch").exists()


def test_an_archive_unpacks_to_no_more_than_it_says(context: Context, tmp_path: Path) -> None:
    archive = archive_that_says(1000, tmp_path / "archive", bytes(10_000_000))
    folder = with_prepare(tmp_path / "bikes")

    with pytest.raises(BadCompetition):
        prepared_copy(context, folder, archive, tmp_path / "scratch", print)

    unpacked = sum(path.stat().st_size for path in (tmp_path / "scratch").rglob("*"))
    assert unpacked < 1_000_000
