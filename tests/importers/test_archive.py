import errno
import gzip
import io
import os
import random
import struct
import tarfile
import zipfile

import pytest

from app.errors import BadCompetition
from app.importers.archive import unpack_archive

FILES = {
    "tiny/competition.toml": b"title = 'x'\n",
    "tiny/public/train.csv": b"id,y\n" + b"1,2\n" * 3000,
    "tiny/public/empty.csv": b"",
    "tiny/public/images/block.bin": bytes(1024),
    "tiny/private/answers.csv": b"id,y\n",
}


def zipped(files, **options):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", options.pop("method", zipfile.ZIP_DEFLATED)) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files, mode="w:gz", kind=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=kind) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def tar_of(*members):
    """A plain tar of members made by hand: (TarInfo, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def special(name, kind, link=""):
    member = tarfile.TarInfo(name)
    member.type = kind
    member.linkname = link
    return member, b""


FORMS = {
    "zip": zipped(FILES),
    "stored zip": zipped(FILES, method=zipfile.ZIP_STORED),
    "tar": tarred(FILES, "w:"),
    "tar.gz": tarred(FILES),
    "gnu tar.gz": tarred(FILES, kind=tarfile.GNU_FORMAT),
    "ustar": tarred(FILES, "w:", tarfile.USTAR_FORMAT),
}


@pytest.fixture
def unpack(tmp_path):
    def call(data, **options):
        file = tmp_path / "upload"
        file.write_bytes(data)
        return unpack_archive(file, tmp_path / "into", **{"max_bytes": 10**6, **options})

    return call


@pytest.fixture
def problem_of(unpack, tmp_path):
    def call(data, **options):
        outside = set(tmp_path.rglob("*"))
        with pytest.raises(BadCompetition) as caught:
            unpack(data, **options)
        into = tmp_path / "into"
        assert list(into.iterdir()) == []  # nothing is left behind,
        assert set(tmp_path.rglob("*")) - outside <= {into, tmp_path / "upload"}  # nor beside it
        (problem,) = caught.value.problems
        assert problem["file"].isprintable()
        return problem["file"], problem["message"]

    return call


def contents(folder):
    return {
        path.relative_to(folder.parent).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("form", FORMS)
def test_it_unpacks_the_folder_whatever_the_form(unpack, tmp_path, form):
    folder = unpack(FORMS[form])

    assert folder == tmp_path / "into" / "tiny"
    assert contents(folder) == FILES
    assert list((tmp_path / "into").iterdir()) == [folder]


@pytest.mark.parametrize("form", FORMS)
def test_it_tells_each_file(unpack, form):
    seen = {}

    unpack(FORMS[form], progress=seen.__setitem__)

    assert seen == {name: len(content) for name, content in FILES.items()}


def test_a_tar_made_of_the_current_directory_unpacks(unpack):
    data = tar_of(
        special(".", tarfile.DIRTYPE),
        *((tarfile.TarInfo(f"./{n}"), c) for n, c in FILES.items()),
    )

    assert contents(unpack(data)) == FILES


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_files_at_the_top_are_refused_with_a_remedy_that_exists(problem_of, pack):
    assert problem_of(pack({"competition.toml": b"x", "public/a.csv": b"y"})) == (
        "archive",
        (
            "competition.toml is at its top: put everything into one folder that has the "
            "competition's name"
        ),
    )


def test_a_file_of_one_letter_is_named(problem_of):
    assert problem_of(zipped({"x": b""}))[1].startswith("x is at its top")


def test_two_folders_are_refused(problem_of):
    _, message = problem_of(zipped({**FILES, "more/a.csv": b""}))

    assert message == "holds 2 folders (more, tiny); one is expected"


@pytest.mark.parametrize("slug", ["a_b", "a b", "ä", "x" * 101])
def test_a_folder_whose_name_is_no_slug_is_refused(problem_of, slug):
    _, message = problem_of(zipped({f"{slug}/competition.toml": b""}))

    assert "is not a slug" in message


@pytest.mark.parametrize("data", [zipped({}), tarred({}, "w"), zipped({"tiny/": b""})])
def test_an_archive_without_files_is_refused(problem_of, data):
    assert problem_of(data) == ("archive", "there is no file in it")


UNSAFE = {
    "/etc/passwd": "absolute",
    "C:/x": "absolute",
    "C:": "absolute",
    "../evil.csv": "..",
    "tiny/../../evil.csv": "..",
    "tiny/public/..": "..",
    "tiny//a.csv": "empty",
    "tiny\\..\\evil.csv": "backslash",
    "tiny/a\nb": "control characters",
    "tiny/a\x7fb": "control characters",
    "tiny/.hidden": "start with a dot",
    "tiny/./a": "start with a dot",
    "tiny/ a.csv": "end with a blank",
    "tiny/a.csv ": "end with a blank",
    "tiny/" + "d/" * 200 + "x": "longer than",
    "tiny/" + "ü" * 150: "longer than 255 bytes",
}


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", UNSAFE)
def test_an_unsafe_name_is_refused(problem_of, pack, name):
    _, message = problem_of(pack({**FILES, name: b"evil"}))

    assert UNSAFE[name] in message


def test_a_zip_name_with_a_nul_is_refused(problem_of):
    data = zipped({"tiny/public/aXb": b"x"}).replace(b"aXb", b"a\0b")

    assert "control characters" in problem_of(data)[1]


def test_a_zip_name_that_is_not_marked_as_utf8_is_refused(problem_of):
    data = zipped({"tiny/cafXX": b"x"}).replace(b"cafXX", "café".encode())

    assert problem_of(data)[1] == "the name is not marked as UTF-8"


def test_a_zip_name_that_is_marked_as_utf8_but_is_not_is_refused(problem_of):
    data = zipped({"tiny/café": b"x"}).replace("café".encode(), b"caf\xe9x")

    assert "neither a complete .zip" in problem_of(data)[1]


def test_a_tar_name_that_is_not_utf8_is_refused(problem_of):
    data = tarred({"tiny/cafXX": b"x"}, "w:", tarfile.USTAR_FORMAT)
    header = bytearray(data)
    header[8:10] = b"\xe9\xe9"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])

    assert problem_of(bytes(header)) == ("tiny/caf??", "the name is not UTF-8")


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.FIFOTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        b"Z",  # no kind at all
    ],
)
def test_a_tar_member_that_is_no_plain_file_is_refused(problem_of, kind):
    data = tar_of(special("tiny/public/x", kind, "/etc/passwd"))

    file, message = problem_of(data)

    assert file == "tiny/public/x"
    assert message.startswith("a link, device or pipe")


def test_a_file_cannot_be_written_through_a_link(problem_of):
    data = tar_of(
        special("tiny/public", tarfile.SYMTYPE, "/tmp"),
        (tarfile.TarInfo("tiny/public/x"), b"evil"),
    )

    assert problem_of(data)[0] == "tiny/public"


def test_a_sparse_tar_member_is_refused(problem_of, tmp_path):
    member = tarfile.TarInfo("tiny/hole")
    member.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "1000000000000"}

    assert problem_of(tar_of((member, b"x")))[0] == "tiny/hole"


@pytest.mark.parametrize("mode", [0o120777, 0o010644, 0o020644, 0o140644])
def test_a_zip_member_that_is_no_plain_file_is_refused(problem_of, mode):
    info = zipfile.ZipInfo("tiny/public/x")
    info.external_attr = mode << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, "/etc/passwd")

    assert problem_of(out.getvalue()) == (
        "tiny/public/x",
        "a link or device; only files and folders are accepted",
    )


def test_a_zip_may_state_the_current_directory_and_the_modes_of_plain_files(unpack):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, mode in (("./", 0o40755), ("./tiny/", 0o40755), ("./tiny/a.csv", 0o100644)):
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            archive.writestr(member, b"")

    assert contents(unpack(out.getvalue())) == {"tiny/a.csv": b""}


def test_a_full_disk_is_not_called_damage_of_the_archive(unpack):
    def progress(name, size):
        raise OSError(errno.ENOSPC, "no space left")

    with pytest.raises(OSError, match="no space left"):
        unpack(FORMS["zip"], progress=progress)


def test_an_encrypted_zip_is_refused(problem_of):
    data = bytearray(zipped({"tiny/public/x": b"secret"}))
    data[6] |= 1  # the flag in the member's header,
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory

    assert problem_of(bytes(data)) == (
        "tiny/public/x",
        "is encrypted; pack it without a password",
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_packed_in_another_way_is_refused(problem_of, method):
    assert "deflate" in problem_of(zipped(FILES, method=method))[1]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_name_that_is_both_file_and_folder_is_refused(problem_of, pack):
    assert problem_of(pack({"tiny/a": b"", "tiny/a/b": b""})) == (
        "tiny/a/b",
        "one name is both a file and a folder",
    )
    assert problem_of(pack({"tiny/a/b": b"", "tiny/a": b""}))[0] == "tiny/a"


def test_a_name_that_comes_twice_is_refused(problem_of):
    twice = [(tarfile.TarInfo("tiny/a"), b"1"), (tarfile.TarInfo("./tiny/a"), b"2")]
    zipped_twice = zipped({"tiny/a": b"1", "tiny/b": b"2"}).replace(b"tiny/b", b"tiny/a")

    assert problem_of(tar_of(*twice)) == ("tiny/a", "this file is in the archive twice")
    assert problem_of(zipped_twice) == ("tiny/a", "this file is in the archive twice")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_bomb_is_bounded_while_it_unpacks(problem_of, pack):
    data = pack({"tiny/zeros": bytes(40_000_000)})
    assert len(data) < 100_000

    assert problem_of(data) == ("archive", "unpacks to more than 1000000 bytes")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_the_bound_is_for_all_files_together(problem_of, pack):
    data = pack({f"tiny/{n}": bytes(100_000) for n in range(11)})

    assert problem_of(data) == ("archive", "unpacks to more than 1000000 bytes")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_the_bound_itself_is_allowed(unpack, pack):
    assert contents(unpack(pack({"tiny/a": bytes(10**6)}))) == {"tiny/a": bytes(10**6)}


def test_a_zip_that_lies_about_a_size_is_refused(problem_of):
    data = zipped({"tiny/zeros": bytes(500_000)})
    lie = data.replace(struct.pack("<L", 500_000), struct.pack("<L", 10))

    assert "neither a complete .zip" in problem_of(lie)[1]


def test_overlapping_zip_members_are_refused(problem_of):
    # Two entries of the directory that point at one member: the trick of the 42-byte-per-file bomb.
    data = zipped({"tiny/a": bytes(300_000)})
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[start:end]
    directory = entry + entry.replace(b"tiny/a", b"tiny/b")
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, len(directory), start, 0)

    assert "neither a complete .zip" in problem_of(data[:start] + directory + tail)[1]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_the_number_of_files_is_bounded(unpack, problem_of, pack):
    assert problem_of(pack({f"tiny/{n}": b"" for n in range(60)}), max_files=50) == (
        "archive",
        "more than 50 files",
    )
    unpack(pack({f"tiny/{n}": b"" for n in range(50)}), max_files=50)


def test_folders_count_as_files(problem_of):
    data = tar_of(*(special(f"tiny/{n}", tarfile.DIRTYPE) for n in range(60)))

    assert problem_of(data, max_files=50) == ("archive", "more than 50 files")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_folders_that_are_only_in_the_names_of_files_are_bounded(unpack, problem_of, pack):
    """A .tar.gz of 14 KB made 150,000 of them, in 590 MB of a disk."""
    deep = pack({f"tiny/public/{n}/{'a/' * 8}x": b"" for n in range(10)})

    assert problem_of(deep, max_files=50) == ("archive", "more than 50 folders")
    unpack(deep, max_files=100)


def test_a_huge_zip_directory_is_refused_before_it_is_read(problem_of, monkeypatch):
    data = zipped({f"tiny/{n:0100}": b"" for n in range(1000)})

    def read(*args, **options):
        raise AssertionError("zipfile was asked to read it")

    monkeypatch.setattr(zipfile, "ZipFile", read)

    assert problem_of(data, max_files=10) == ("archive", "more than 10 files")


def test_a_huge_zip_directory_is_found_by_each_of_the_records_that_python_may_read(problem_of):
    data = zipped({f"tiny/{n:0100}": b"" for n in range(1000)})
    start, end = data.index(b"PK\x01\x02"), data[-22:]
    huge = len(data) - 22 - start

    def record(size, bytes_after):
        fields = (b"PK\x06\x06", 44 + bytes_after, 45, 45, 0, 0, 1, 1, size, start)
        return struct.pack("<4sQ2H2L4Q", *fields)

    for named, before in ((huge, 100), (100, huge)):
        records = record(named, 56) + record(before, 0)
        locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(data) - 22, 1)
        small = end[:12] + struct.pack("<L", 100) + end[16:]
        packed = data[:-22] + records + locator + small
        assert problem_of(packed, max_files=10) == ("archive", "more than 10 files")


def test_a_zip_that_states_sizes_in_its_zip64_record_is_read(unpack):
    data = zipped(FILES)
    start, end = data.index(b"PK\x01\x02"), len(data) - 22
    size, count = end - start, len(FILES)
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)

    assert contents(unpack(data[:end] + record + locator + last)) == FILES


def test_a_huge_tar_header_is_refused_before_it_is_read(problem_of):
    member = tarfile.TarInfo("tiny/a")
    member.pax_headers = {"comment": "x" * 3_000_000}

    assert "a header is too long" in problem_of(tar_of((member, b"")), max_bytes=10**8)[1]


def test_litter_is_passed_over(unpack):
    litter = {
        "tiny/.DS_Store": b"x",
        "__MACOSX/tiny/._train.csv": b"x",
        "tiny/__pycache__/prepare.pyc": b"x",
    }

    assert contents(unpack(zipped({**litter, **FILES}))) == FILES


def test_litter_does_not_excuse_an_unsafe_path(problem_of):
    assert ".." in problem_of(zipped({"__MACOSX/../../evil": b"x"}))[1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"PK\x03\x04",
        b"\x1f\x8b",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"hello", mtime=0),
        b"\x89PNG\r\n" + bytes(2000),
        bytes(10_240)[:-1] + b"x",
        b"x" * 5000,
    ],
)
def test_what_is_no_archive_is_refused(problem_of, data):
    file, message = problem_of(data)

    assert file == "archive"
    assert "neither a complete .zip nor a complete .tar" in message or "no file in it" in message


def test_an_archive_of_very_many_empty_members_of_gzip_is_refused(problem_of):
    """A megabyte of them took 0.7 s of a processor, and an archive may have a gigabyte."""
    data = gzip.compress(b"", mtime=0) * 30_000 + tarred(FILES)
    file, message = problem_of(data)

    assert file == "archive"
    assert "more than 20,000 small gzip members: pack it as one" in message


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_archive_is_refused_wherever_it_was_cut(problem_of, form):
    data = FORMS[form]
    # A plain tar ends with two empty blocks and padding, which may be missing.
    end = 512 * (sum(2 + -(-len(c) // 512) for c in FILES.values()) - len(FILES))
    cuts = range(0, end if "tar" in form and "gz" not in form else len(data) - 1, 97)

    for cut in cuts:
        _, message = problem_of(data[:cut])

        assert "neither a complete .zip nor a complete .tar or .tar.gz" in message


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_archive_never_breaks_anything(tmp_path, form):
    draw = random.Random(7)
    for attempt in range(150):
        data = bytearray(FORMS[form])
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        file = tmp_path / "upload"
        file.write_bytes(data)
        into = tmp_path / f"into{attempt}"

        try:
            folder = unpack_archive(file, into, max_bytes=10**6, max_files=100)
        except BadCompetition:
            assert list(into.iterdir()) == []
        else:
            assert folder.parent == into
            assert all(not path.is_symlink() for path in folder.rglob("*"))
    assert {path.name for path in tmp_path.iterdir()} == {
        "upload",
        *(f"into{attempt}" for attempt in range(150)),
    }


def test_our_own_trouble_is_not_the_archives_fault(tmp_path):
    file = tmp_path / "upload"
    file.write_bytes(FORMS["zip"])
    (tmp_path / "into").write_text("a file, so no folder can be made below it")

    with pytest.raises(OSError, match=os.strerror(20)):
        unpack_archive(file, tmp_path / "into", max_bytes=10**6)
