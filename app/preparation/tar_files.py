"""Read tar archives, packed with gzip or not, in one pass, and write plain ones."""

from __future__ import annotations

import contextlib
import gzip
import io
import tarfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, cast

from app.preparation.tar_stream import TarStream

Use = Callable[[str, IO[bytes], int], None]

_GZIP = b"\x1f\x8b"  # the first bytes of such files
_NO_LIMIT = 1 << 62  # bytes; the archive is the admin's own, and is read piece by piece


def names(archive: IO[bytes]) -> list[str]:
    """The sorted names of the files in an archive, which is read to its end.

    Raises:
        tarfile.ReadError, gzip.BadGzipFile, EOFError, zlib.error: the archive is cut or damaged.
        BadCompetition: it has a sparse file.
    """
    return sorted(_name(member) for _, member in _members(archive))


def read(archive: IO[bytes], wanted: Collection[str], use: Use) -> None:
    """Call `use` with the name, the content and the size of each wanted file, in their order.

    The content can be read once, from its beginning to its end, during the call.

    Raises:
        tarfile.ReadError, gzip.BadGzipFile, EOFError, zlib.error: the archive is cut or damaged.
        BadCompetition: it has a sparse file.
    """
    for packed, member in _members(archive):
        content = packed.extractfile(member) if _name(member) in wanted else None
        if content is not None:
            use(_name(member), content, member.size)


@contextlib.contextmanager
def written(archive: Path) -> Iterator[Use]:
    """A function that adds a file, given its name, content and size, to a new archive.

    Members have no owner and no time, so that an archive's bytes depend only on its contents.

    Raises:
        FileExistsError: the archive was written before.
    """
    with tarfile.open(archive, "x") as packed:

        def add(name: str, content: IO[bytes], size: int) -> None:
            member = tarfile.TarInfo(name)
            member.size = size
            packed.addfile(member, content)

        yield add


def _members(archive: IO[bytes]) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The regular files of an archive, limited and checked by `TarStream`.

    `tarfile` would accept a truncated archive, or one with a damaged header, as complete.
    """
    head = cast(io.BufferedReader, archive).peek(len(_GZIP))[: len(_GZIP)]
    plain = cast(IO[bytes], gzip.GzipFile(fileobj=archive)) if head == _GZIP else archive
    stream = TarStream(plain, _NO_LIMIT, "")
    with tarfile.open(fileobj=stream, mode="r:") as packed:
        while member := stream.next_member(packed):
            if member.issparse():
                raise tarfile.ReadError(f"{member.name!r} is a sparse file")
            if member.isfile():
                yield packed, member
    stream.finish()


def _name(member: tarfile.TarInfo) -> str:
    return member.name.removeprefix("./")
