"""Unpack an archive that may be hostile: a .zip, .tar or .tar.gz of one competition folder."""

from __future__ import annotations

import errno
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from app.domain.competition import SLUG
from app.errors import BadCompetition
from app.importers.names import HIDDEN, LONGEST_NAME, is_junk, name_mistake, problem, shown
from app.importers.packed_file import is_packed, unpacked
from app.importers.zip_directory import central_directory_bytes
from app.preparation.tar_stream import TarStream

MAX_FILES = 200_000
CHUNK_BYTES = 1 << 20
LONGEST_PATH = LONGEST_NAME + 120  # with a slug and public/ before the name
HEADER_BYTES = 2048  # of a tar, per member, on average
DIRECTORY_BYTES = 200  # of a zip's directory, per member, on average
# Errors of the standard library on a damaged archive.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RecursionError,  # headers may announce an endless number of headers
    ValueError,
)


def unpack_archive(
    file: Path,
    into: Path,
    *,
    max_bytes: int,
    max_files: int = MAX_FILES,
    progress: Callable[[str, int], None] | None = None,
) -> Path:
    """Unpack `file` below the directory `into`. Returns the path of the competition folder.

    The archive has one folder, whose name is the slug. `progress` is called with the name and bytes
    of each member. On failure, no files stay below `into`.

    Raises:
        BadCompetition: the archive is damaged, encrypted, too large, or has a member that is not
            a plain file with a valid name below its folder.
    """
    tree = into / ".unpacking"  # no slug starts with a dot
    try:
        unpack_files(file, tree, max_bytes=max_bytes, max_files=max_files, progress=progress)
        return _move_into_place(tree, into)
    finally:
        shutil.rmtree(tree, ignore_errors=True)


def unpack_files(
    file: Path,
    into: Path,
    *,
    max_bytes: int,
    max_files: int = MAX_FILES,
    progress: Callable[[str, int], None] | None = None,
) -> None:
    """Unpack any archive of plain files into the new directory `into`.

    Raises:
        BadCompetition: as `unpack_archive`.
    """
    into.mkdir(parents=True)
    unpacking = _Unpacking(into, max_bytes, max_files, progress)
    with file.open("rb") as stream, _damage_as_bad_competition():
        if is_zip(stream):
            _unpack_zip(stream, unpacking)
        else:
            _unpack_tar(stream, unpacking)


def is_zip(stream: IO[bytes]) -> bool:
    """Whether a file starts like a zip archive; an empty zip too."""
    start = stream.read(4)
    stream.seek(0)
    return start in (b"PK\x03\x04", b"PK\x05\x06")


class _Unpacking:
    """The target of the members, the names so far, and the limits."""

    def __init__(
        self,
        tree: Path,
        max_bytes: int,
        max_files: int,
        progress: Callable[[str, int], None] | None,
    ) -> None:
        self.tree = tree
        self.max_bytes = max_bytes
        self.max_files = max_files
        self.progress = progress
        self.bytes = 0
        self.members = 0
        self.files: set[str] = set()
        self.folders: set[str] = set()

    def admits(self, name: str) -> bool:
        """Count one member and check its name. Returns False if the member is to be skipped."""
        self.members += 1
        if self.members > self.max_files:
            raise _bad_archive("archive", f"more than {self.max_files} files")
        mistake = name_mistake(name, LONGEST_PATH)
        if is_junk(name) and mistake in (None, HIDDEN):
            return False
        if mistake:
            raise _bad_archive(name, mistake)
        return True

    def add(self, name: str, source: IO[bytes]) -> None:
        """Write one file."""
        parents = [name[:i] for i, character in enumerate(name) if character == "/"]
        if name in self.files:
            raise _bad_archive(name, "this file is in the archive twice")
        if name in self.folders or not self.files.isdisjoint(parents):
            raise _bad_archive(name, "one name is both a file and a folder")
        self.files.add(name)
        self.folders.update(parents)
        if len(self.folders) > self.max_files:
            raise _bad_archive("archive", f"more than {self.max_files} folders")
        target = self.tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        before = self.bytes
        with target.open("xb") as out:
            while chunk := source.read(CHUNK_BYTES):
                self.bytes += len(chunk)
                if self.bytes > self.max_bytes:
                    raise _bad_archive("archive", f"unpacks to more than {self.max_bytes} bytes")
                out.write(chunk)
        if self.progress is not None:
            self.progress(name, self.bytes - before)


def _unpack_zip(stream: IO[bytes], unpacking: _Unpacking) -> None:
    limit = DIRECTORY_BYTES * unpacking.max_files + (1 << 16)
    if central_directory_bytes(stream) > limit:
        raise _bad_archive("archive", f"more than {unpacking.max_files} files")
    with zipfile.ZipFile(stream) as archive:
        places = {member.header_offset for member in archive.infolist()}
        if len(places) < len(archive.infolist()):  # of which Python 3.14 only warns
            raise zipfile.BadZipFile("two entries of the directory lead to one member")
        for member in archive.infolist():
            name = member.orig_filename.removeprefix("./")
            is_folder = name.endswith("/")
            if name == "":
                continue
            if not (name.isascii() or member.flag_bits & 0x800):
                raise _bad_archive(name, "the name is not marked as UTF-8")
            if not unpacking.admits(name.removesuffix("/")):
                continue
            mode = stat.S_IFMT(member.external_attr >> 16)
            if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _bad_archive(name, "a link or device; only files and folders are accepted")
            if member.flag_bits & 1:
                raise _bad_archive(name, "is encrypted; pack it without a password")
            if is_folder:
                continue
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _bad_archive(name, "is not compressed by deflate")
            with archive.open(member) as source:
                unpacking.add(name, source)


def _unpack_tar(stream: IO[bytes], unpacking: _Unpacking) -> None:
    plain = unpacked(stream) if is_packed(stream) else stream
    limit = unpacking.max_bytes + HEADER_BYTES * unpacking.max_files
    blocks = TarStream(plain, limit, f"unpacks to more than {unpacking.max_bytes} bytes")
    with tarfile.open(fileobj=blocks, mode="r:", encoding="utf-8") as archive:
        while member := blocks.next_member(archive):
            name = member.name.removeprefix("./")
            if name in ("", "."):
                continue
            if not unpacking.admits(name):
                continue
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise _bad_archive(
                    name, "a link, device or pipe; only files and folders are accepted"
                )
            source = archive.extractfile(member)
            if source is None:  # cannot happen: it is a regular file
                raise _bad_archive(name, "cannot be read")
            unpacking.add(name, source)
    blocks.finish()


def _move_into_place(tree: Path, into: Path) -> Path:
    tops = sorted(tree.iterdir())
    if not tops:
        raise _bad_archive("archive", "there is no file in it")
    if any(top.is_file() for top in tops):
        raise _bad_archive(
            "archive",
            f"{tops[0].name} is at its top: put everything into one folder that has the "
            "competition's name",
        )
    if len(tops) > 1:
        names = ", ".join(shown(top.name) for top in tops[:5])
        raise _bad_archive("archive", f"holds {len(tops)} folders ({names}); one is expected")
    (folder,) = tops
    if not SLUG.fullmatch(folder.name):
        raise _bad_archive(
            "archive",
            f"{shown(folder.name)!r} is not a slug: letters, digits and hyphens, at most 100",
        )
    return folder.rename(into / folder.name)


def _bad_archive(file: str, message: str) -> BadCompetition:
    return BadCompetition([problem(file, "", message)])


@contextmanager
def _damage_as_bad_competition() -> Iterator[None]:
    try:
        yield
    except (*DAMAGE, OSError) as error:
        # A damaged header can make zipfile seek to an invalid place; other errors of the system
        # are not the archive's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = shown(str(error)) or type(error).__name__
        raise _bad_archive(
            "archive", f"is neither a complete .zip nor a complete .tar or .tar.gz ({reason})"
        ) from None
