"""Headers of a tar that are slow to read, or that fill the memory: refused, and soon."""

from __future__ import annotations

import subprocess
import tarfile
import time
import tracemalloc
from pathlib import Path

import pytest

from app.errors import BadCompetition
from app.importers.archive import unpack_files

PAX, GLOBAL = tarfile.XHDTYPE, tarfile.XGLTYPE
MEMBER = tarfile.TarInfo("tiny/a.csv").tobuf()
END = bytes(1024)
HOLES = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
MEGABYTE = 1 << 20


def header(kind: bytes, content: bytes) -> bytes:
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, len(content)
    return member.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)


def unpack(data: bytes, tmp_path: Path) -> list[str]:
    (tmp_path / "upload").write_bytes(data)
    unpack_files(tmp_path / "upload", tmp_path / "into", max_bytes=100 * MEGABYTE)
    return sorted(file.name for file in (tmp_path / "into").rglob("*") if file.is_file())


@pytest.mark.parametrize(
    "content",
    [
        b"1" * 60_000,
        b"1" * 16_000,
        b"16000 comment=" + b"1" * 15_985 + b"\n",
        b"2 " * 30_000 + b"=",
        b"2 " * 8_000 + b"=",
        b"1 hdrcharset=" * 1_200,
        b"27 a=1 hdrcharset=x hdrcharset=\n",
        b"10 path=a",
        b"0 path=a\n",
        b"5 a=b\n",
        b"6 a=b\n7",
        b"7 ab=\n",
        b"999999999999999999999 a=b\n",
        HOLES,
    ],
    ids=lambda content: content[:12].decode(),
)
@pytest.mark.parametrize("kind", [PAX, GLOBAL])
def test_a_pax_header_that_no_packer_writes_is_refused(
    kind: bytes, content: bytes, tmp_path: Path
) -> None:
    started = time.process_time()
    with pytest.raises(BadCompetition):
        unpack(header(kind, content) * 50 + MEMBER + END, tmp_path)

    assert time.process_time() - started < 1  # a header of 1 MiB took eleven minutes


@pytest.mark.parametrize("kind", [PAX, GLOBAL, tarfile.GNUTYPE_LONGNAME])
def test_headers_that_announce_headers_without_end_are_refused(kind: bytes, tmp_path: Path) -> None:
    with pytest.raises(BadCompetition):
        unpack(header(kind, b"6 a=b\n") * 2_000 + MEMBER + END, tmp_path)


def test_a_list_of_holes_is_not_read(tmp_path: Path) -> None:
    start = bytearray(header(tarfile.GNUTYPE_SPARSE, b""))
    start[482] = 1  # the list goes on in the next block
    start[148:156] = b"%06o\0 " % (sum(start) - sum(start[148:156]) + 8 * ord(" "))
    more = (b"1" * 504 + b"\1" + bytes(7)) * 20_000
    tracemalloc.start()
    with pytest.raises(BadCompetition, match="sparse"):
        unpack(bytes(start) + more + END, tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 30 * MEGABYTE  # of which the archive itself has 10


def test_the_headers_of_many_members_are_not_kept(tmp_path: Path) -> None:
    note = header(PAX, b"10009 comment=" + b"x" * 9_994 + b"\n")
    data = b"".join(note + tarfile.TarInfo(f"tiny/{n}").tobuf() for n in range(2_000)) + END
    tracemalloc.start()
    assert len(unpack(data, tmp_path)) == 2_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak - len(data) < 10 * MEGABYTE


@pytest.mark.parametrize("form", ["pax", "gnu", "ustar", "posix"])
def test_what_gnu_tar_packs_is_read(form: str, tmp_path: Path) -> None:
    names = ["a.csv", "n" * 90 + ".csv", "é" * 90 + ".csv"]
    names = names[:2] if form == "ustar" else names
    (tmp_path / "tiny").mkdir()
    for name in names:
        (tmp_path / "tiny" / name).write_bytes(b"x" * 512)  # a content as long as a header
    packed = tmp_path / "packed"
    subprocess.run(
        ["tar", f"--format={form}", "-cf", str(packed), "-C", str(tmp_path), "tiny"], check=True
    )

    assert unpack(packed.read_bytes(), tmp_path) == sorted(names)


def test_contents_that_look_like_headers_are_contents(tmp_path: Path) -> None:
    blocks = [b"x" * 156 + kind + b"x" * 355 for kind in (PAX, PAX, tarfile.GNUTYPE_SPARSE)]
    content = b"".join(blocks)
    member = tarfile.TarInfo("tiny/a.csv")
    member.size = len(content)
    noted = header(GLOBAL, b"52 comment=" + b"0a" * 20 + b"\n")  # as git archive writes it
    junk = tarfile.TarInfo("tiny/.DS_Store")  # which is skipped
    junk.size = len(blocks[0])
    unpack(noted + junk.tobuf() + blocks[0] + member.tobuf() + content + END, tmp_path)

    assert (tmp_path / "into" / "tiny" / "a.csv").read_bytes() == content
