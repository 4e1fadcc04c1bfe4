"""Ranges that are there, files of which parts are there, and members of archives on a server."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.downloads.extents import Extents
from app.downloads.http_ranges import HttpRanges
from app.downloads.partial_file import Identity, PartialFile
from app.downloads.zip_download import ZipDownload
from app.errors import BadCompetition, Conflict, Invalid, PodiumError
from app.preparation.raw_files import RawFiles
from app.services.competitions.kaggle_table import copied_table
from app.services.competitions.prepare import described
from tests.downloads.conftest import CACTUS, FakeKaggle

PLACES = st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 60))


@settings(deadline=None)
@given(st.lists(PLACES, max_size=30), st.integers(0, 60), st.integers(0, 60))
def test_extents_are_a_set_of_bytes(steps, start, end) -> None:
    extents, there = Extents(), set()
    for adds, first, last in steps:
        if adds:
            extents.add(first, last)
            there |= set(range(first, last))
        else:
            extents.remove(first, last)
            there -= set(range(first, last))
    missing = [byte for one, other in extents.missing(start, end) for byte in range(one, other)]

    assert missing == [byte for byte in range(start, end) if byte not in there]
    assert extents.total() == len(there)
    assert all(a[1] < b[0] for a, b in zip(extents.ranges(), extents.ranges()[1:], strict=False))


def test_a_partial_file_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    path, identity = tmp_path / "a.zip", Identity(100, '"one"')
    file = PartialFile(path)
    assert file.begin(identity) is False
    file.write(10, b"x" * 20)
    with pytest.raises(Conflict, match="Another process is downloading"):
        PartialFile(path)
    file.close()
    with (tmp_path / "a.zip.state").open("a") as state:
        state.write("[30, 9")
    file = PartialFile(path)

    assert file.identity == identity
    assert file.missing(0, 100) == [(0, 10), (30, 100)]
    file.write(0, b"y" * 10)
    file.close()
    file = PartialFile(path)
    assert file.missing(0, 100) == [(30, 100)]
    file.write(30, b"z" * 70)
    file.sync()
    assert file.is_complete
    assert path.read_bytes() == b"y" * 10 + b"x" * 20 + b"z" * 70
    file.forget([(5, 6)])
    assert (path.exists(), file.missing(0, 100)) == (False, [(5, 6)])
    assert file.begin(Identity(100, '"two"')) is False
    assert file.missing(0, 100) == [(0, 100)]
    file.close()


def test_an_archive_that_somebody_put_there_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"x" * 100)
    file = PartialFile(path)
    assert file.begin(Identity(100, '"one"')) is True
    assert file.is_complete
    file.close()


def test_the_directory_of_a_large_archive_is_zip64(kaggle: FakeKaggle, monkeypatch) -> None:
    archive = kaggle.competition(megabytes=1)
    with zipfile.ZipFile(archive, "a") as packed:
        for number in range(66_000):  # more than the old directory can count
            packed.writestr(f"empty/{number}", b"")
    lines: list[str] = []
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{kaggle.port}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{kaggle.port}")
    ranges = HttpRanges(lambda: f"http://localhost/files/{CACTUS}.zip?signature=1", lines.append)
    download = ZipDownload(kaggle.work / "a.zip", ranges)
    try:
        download.open()
        download.fetch("train.csv")
        with zipfile.ZipFile(download.file) as partial, zipfile.ZipFile(archive) as whole:
            assert partial.read("train.csv") == whole.read("train.csv")
            assert len(download.members) == len(whole.namelist()) > 0xFFFF
        assert 900_000 < download.missing_bytes < archive.stat().st_size
    finally:
        download.close()
        ranges.close()
    assert lines == []


def archive_of(compression: int, name: str = "ü.csv") -> bytearray:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        archive.writestr("train.csv", "a,b\n" * 100)
        archive.writestr(name, "a")
    return bytearray(packed.getvalue())


def changed(place: int, to: int, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with another byte in its directory, or before it if the place is negative."""
    archive = archive_of(compression)
    archive[archive.find(b"PK\1\2") + place if place >= 0 else -place] = to
    return bytes(archive)


DAMAGED = {
    "a newer version": changed(6, 200),
    "no UTF-8": bytes(archive_of(zipfile.ZIP_STORED)).replace("ü".encode(), b"\xff\xfe"),
    "a password": changed(8, 1),
    "no method": changed(10, 77),
    "bz2": changed(-50, 255, zipfile.ZIP_BZIP2),
    "lzma": changed(-48, 255, zipfile.ZIP_LZMA),
    "beyond": changed(44, 255),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_damage_of_each_kind_is_found_in_words(tmp_path: Path, how: str) -> None:
    path, data = tmp_path / "a.zip", DAMAGED[how]
    path.write_bytes(data)
    there = PartialFile(path)
    there.begin(Identity(len(data), '"one"'))
    there.close()
    ranges = HttpRanges(lambda: "http://127.0.0.1:9/", lambda line: None)
    download = ZipDownload(path, ranges)
    with contextlib.closing(ranges), contextlib.closing(download):
        if how in ("a newer version", "no UTF-8"):
            with pytest.raises(Invalid, match="is not a zip archive"):
                download.open()
            with pytest.raises(BadCompetition):
                described(path)
        else:
            download.open()
            assert download.forget_damaged() == 1


@pytest.mark.parametrize("how", DAMAGED)
def test_an_archive_in_kaggles_archive_that_is_damaged_is_told(tmp_path: Path, how: str) -> None:
    data: Any = DAMAGED[how].replace(b".csv", b".txt").replace(b"train.txt", b"train.csv")
    with zipfile.ZipFile(tmp_path / "raw.zip", "w") as packed:
        packed.writestr("train.csv.zip", data)
    with RawFiles(tmp_path / "raw.zip") as raw, pytest.raises(PodiumError, match=r"train.csv.zip"):
        copied_table(raw, "train.csv.zip", tmp_path)
