"""7z and tar archives are read in one pass, and damage is an error."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import py7zr
import pytest

from app.errors import Invalid
from app.preparation import seven_zip, tar_files
from app.preparation.labelled_images import prepare_a_fifth
from app.preparation.raw_files import RawFiles

FILES = {f"train/{number:03d}.wav": b"\x00\xff%d" % number * 50 for number in range(40)}
FILES |= {"empty.txt": b"", "train/Ünicode.wav": b"x"}


def archive_7z(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with py7zr.SevenZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writef(io.BytesIO(content), name)
    return packed.getvalue()


def archive_tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        archive.addfile(tarfile.TarInfo("train/link"))
        link = tarfile.TarInfo("train/elsewhere")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return gzip.compress(packed.getvalue())


@pytest.fixture(params=["7z", "tar.gz"])
def name(request: pytest.FixtureRequest) -> str:
    return f"train.{request.param}"


@pytest.fixture(params=["folder", "archive"])
def raw(request: pytest.FixtureRequest, tmp_path: Path, name: str) -> RawFiles:
    """Kaggle's files, unpacked or in Kaggle's archive: one of them is an archive again."""
    content = archive_7z(FILES) if name.endswith(".7z") else archive_tar(FILES)
    if request.param == "archive":
        with zipfile.ZipFile(tmp_path / "raw.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(name, content)
        return RawFiles(tmp_path / "raw.zip")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / name).write_bytes(content)
    return RawFiles(tmp_path / "raw")


def test_names_are_listed_and_files_copied_or_opened(
    raw: RawFiles, name: str, tmp_path: Path
) -> None:
    with raw:
        assert set(FILES) <= set(raw.names(within=name))
        assert "train/elsewhere" not in raw.names(within=name)
        wanted = ["train/007.wav", "empty.txt", "train/Ünicode.wav"]
        raw.copy_bulk(((one, tmp_path / "made" / one) for one in wanted), within=name)
        with raw.open("train/039.wav", within=name) as file:
            assert file.read() == FILES["train/039.wav"]

    made = tmp_path / "made"
    files = {p.relative_to(made).as_posix(): p for p in made.rglob("*") if p.is_file()}
    assert {one: path.read_bytes() for one, path in files.items()} == {
        one: FILES[one] for one in wanted
    }


def test_a_file_that_is_missing_is_named(raw: RawFiles, name: str, tmp_path: Path) -> None:
    with raw, pytest.raises(FileNotFoundError, match=f"{name} lacks 1 of 2 files, as gone.wav"):
        raw.copy_bulk([("gone.wav", tmp_path / "a"), ("empty.txt", tmp_path / "b")], within=name)


def test_nothing_is_read_for_grading_only(raw: RawFiles, name: str, tmp_path: Path) -> None:
    raw.grading_only = True
    with raw:
        raw.copy_bulk([("gone.wav", tmp_path / "a")], within=name)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("size", [9, 100, 400])
def test_cut_archives_are_errors(name: str, size: int, tmp_path: Path) -> None:
    is_7z = name.endswith(".7z")
    content = (archive_7z(FILES) if is_7z else archive_tar(FILES))[:-size]
    (tmp_path / name).write_bytes(content)

    errors = (py7zr.Bad7zFile, py7zr.exceptions.CrcError, tarfile.ReadError, EOFError, zlib.error)
    with RawFiles(tmp_path) as raw, pytest.raises(errors):
        raw.names(within=name)


def member(kind: bytes, size: int) -> bytes:
    """A header of tar that announces so many bytes."""
    announced = tarfile.TarInfo("a")
    announced.type, announced.size = kind, size
    return announced.tobuf(tarfile.USTAR_FORMAT)


DAMAGED = {
    "cut between two files": lambda whole: whole[: 3 * 1024],
    "no header": lambda whole: whole[: 2 * 1024] + b"x" * 512 + whole[2 * 1024 + 512 :],
    "a long pax header": lambda _: member(tarfile.XHDTYPE, 1 << 32),
    "a long name": lambda _: member(tarfile.GNUTYPE_LONGNAME, 1 << 32),
}


@pytest.mark.parametrize("how", DAMAGED)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_part_of_a_tar_archive_is_not_taken_for_the_whole(
    tmp_path: Path, how: str, pack: Callable[[bytes], bytes]
) -> None:
    whole = gzip.decompress(archive_tar({str(number): b"x" for number in range(6)}))
    (tmp_path / "a.tar").write_bytes(pack(DAMAGED[how](whole)))

    with RawFiles(tmp_path) as raw, pytest.raises(tarfile.ReadError, match=r"end|header"):
        raw.names(within="a.tar")


def test_a_file_of_a_tar_archive_is_read_at_once_however_large(tmp_path: Path) -> None:
    content = bytes(range(256)) * 13_000  # 3 MiB and some
    (tmp_path / "a.tar").write_bytes(gzip.decompress(archive_tar({"a": content, "b": b"x"})))
    seen: dict[str, bytes] = {}

    with RawFiles(tmp_path) as raw:
        raw.read_members(
            "a.tar", ["a", "b"], lambda name, file, _: seen.update({name: file.read()})
        )

    assert seen == {"a": content, "b": b"x"}


def test_a_changed_byte_in_a_7z_archive_is_an_error(tmp_path: Path) -> None:
    content = bytearray(archive_7z(FILES))
    content[60] ^= 0xFF
    (tmp_path / "train.7z").write_bytes(content)
    seen: list[str] = []

    with (
        RawFiles(tmp_path) as raw,
        pytest.raises((py7zr.exceptions.CrcError, lzma.LZMAError)),
    ):
        raw.read_members("train.7z", list(FILES), lambda name, *_: seen.append(name))


def test_members_larger_than_memory_wait_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seven_zip, "IN_MEMORY", 1000)
    files = {"a": bytes(range(256)) * 9, "b": b"small", "c": b"z" * 1001}
    seen: dict[str, tuple[bytes, int]] = {}

    def use(name: str, content: object, size: int) -> None:
        seen[name] = (content.read(), size)  # type: ignore[attr-defined]

    seven_zip.read(io.BytesIO(archive_7z(files)), set(files), use)

    assert seen == {name: (content, len(content)) for name, content in files.items()}


@pytest.mark.parametrize("stored", [False, True])
def test_7z_archives_that_were_written_are_read_by_py7zr(tmp_path: Path, stored: bool) -> None:
    with seven_zip.written(tmp_path / "made.7z", stored=stored) as add:
        for name, content in FILES.items():
            add(name, io.BytesIO(content))

    with py7zr.SevenZipFile(tmp_path / "made.7z") as packed:
        packed.extractall(tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in FILES} == FILES
    with pytest.raises(FileExistsError), seven_zip.written(tmp_path / "made.7z"):
        pass


def test_tar_archives_depend_on_content_alone(tmp_path: Path) -> None:
    for name in ("one.tar", "two.tar"):
        with tar_files.written(tmp_path / name) as add:
            add("a/ü.jpg", io.BytesIO(b"abc"), 3)

    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as packed:
        file = packed.extractfile("a/ü.jpg")
        assert file is not None
        assert file.read() == b"abc"


@pytest.mark.parametrize(("module", "library"), [("seven_zip", "py7zr"), ("grey_levels", "PIL")])
def test_a_missing_library_is_named_with_what_to_do(module: str, library: str) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import app.preparation.{module}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert ran.returncode == 1
    assert "pip install '.[preparation]'" in ran.stderr.splitlines()[-1]


OUTSIDE = ("../../evil.jpg", "/evil.jpg", "a/../../../evil.jpg")


@pytest.mark.parametrize("file", OUTSIDE)
def test_no_image_is_written_where_its_record_says_outside(tmp_path: Path, file: str) -> None:
    images = [{"id": number, "file_name": f"{number}.jpg"} for number in range(9)]
    images.append({"id": 9, "file_name": file})
    annotations = [{"image_id": one["id"], "category_id": 1} for one in images]
    metadata = {"images": images, "annotations": annotations, "info": {}, "licenses": []}
    with zipfile.ZipFile(tmp_path / "raw.zip", "w") as packed:
        packed.writestr("train/metadata.json", json.dumps(metadata))
        for one in images:
            packed.writestr(f"train/{one['file_name']}", "x")
    public = tmp_path / "made" / "deep" / "public"
    public.mkdir(parents=True)

    with RawFiles(tmp_path / "raw.zip") as raw, pytest.raises(Invalid, match="leads out of"):
        prepare_a_fifth(raw, public, tmp_path, train="train", test="test", encoding="utf-8")

    assert [path for path in tmp_path.rglob("*.jpg") if public not in path.parents] == []


@pytest.mark.parametrize("within", [None, "train.tar.gz", "train.7z", "train.zip"])
def test_no_file_beside_the_raw_files_is_read(tmp_path: Path, within: str | None) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "secret").write_text("secret")
    name = "../secret"
    with RawFiles(tmp_path / "raw") as raw:
        for copy in (raw.copy, lambda *one, within: raw.copy_bulk([one], within=within)):
            with pytest.raises(Invalid, match=f"name a file '{name}'"):
                copy(name, tmp_path / "copy", within=within)
    assert not (tmp_path / "copy").exists()


def test_no_file_is_written_to_a_target_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a").write_text("a")
    with RawFiles(tmp_path / "raw") as raw, pytest.raises(Invalid, match="leads out"):
        raw.copy_bulk([("a", tmp_path / "made" / ".." / "b" / "a")])
    assert not (tmp_path / "b").exists()
