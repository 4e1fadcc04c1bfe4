"""Read and write 7z archives member by member, by py7zr, which `podium[preparation]` brings."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, cast

try:
    import py7zr
    from py7zr.io import Py7zIO, WriterFactory
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "Kaggle packed a file of this competition with 7-Zip, and py7zr, which reads it, is not "
        "installed: pip install '.[preparation]' in Podium's checkout."
    ) from missing

Use = Callable[[str, IO[bytes], int], None]
Add = Callable[[str, IO[bytes]], None]

IN_MEMORY = 64 * 1024 * 1024  # larger members are kept in a temporary file
PACKED = [{"id": py7zr.FILTER_LZMA2, "preset": 6}]
STORED = [{"id": py7zr.FILTER_COPY}]  # for images and sound, which are compressed already


def names(archive: IO[bytes]) -> list[str]:
    """The sorted names of the files in an archive; nothing is unpacked."""
    with py7zr.SevenZipFile(archive) as packed:
        return sorted(entry.filename for entry in packed.files if not entry.is_directory)


def read(archive: IO[bytes], wanted: Collection[str], use: Use) -> None:
    """Call `use` with the name, the content and the size of each wanted file, in their order.

    The content is read from its beginning, and is gone after the call.

    Raises:
        py7zr.Bad7zFile, py7zr.exceptions.CrcError, lzma.LZMAError: the archive is damaged.
    """
    with py7zr.SevenZipFile(archive) as packed:
        packed.extract(targets=set(wanted), factory=_Contents(use))


@contextlib.contextmanager
def written(archive: Path, *, stored: bool = False) -> Iterator[Add]:
    """A function that adds a file, given its name and content, to a new archive.

    Raises:
        FileExistsError: the archive was written before.
    """
    with (
        archive.open("xb") as target,
        py7zr.SevenZipFile(target, "w", filters=STORED if stored else PACKED) as packed,
    ):
        yield lambda name, content: packed.writef(content, name)


class _Content(Py7zIO):
    """The bytes of one file; py7zr closes it when they are complete and their CRC is right."""

    def __init__(self, name: str, use: Use) -> None:
        self._name, self._use = name, use
        self._size = 0
        self._bytes: IO[bytes] = io.BytesIO()

    def write(self, s: bytes | bytearray) -> int:
        """Take the next bytes."""
        if self._size <= IN_MEMORY < self._size + len(s):
            small, self._bytes = self._bytes, cast(IO[bytes], tempfile.TemporaryFile())  # noqa: SIM115 (closed by close)
            small.seek(0)
            shutil.copyfileobj(small, self._bytes)
        self._size += len(s)
        return self._bytes.write(s)

    def close(self) -> None:
        """Pass the content on."""
        with self._bytes as content:
            content.seek(0)
            self._use(self._name, content, self._size)

    def read(self, size: int | None = None) -> bytes:
        """Not needed, because nothing reads the file while it is written."""
        raise NotImplementedError

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to the beginning, as py7zr does before it closes."""
        return self._bytes.seek(offset, whence)

    def flush(self) -> None:
        """Do nothing, because nothing is buffered."""

    def size(self) -> int:
        """The number of bytes so far."""
        return self._size


class _Contents(WriterFactory):
    def __init__(self, use: Use) -> None:
        self._use = use

    def create(self, filename: str) -> Py7zIO:
        return _Content(filename, self._use)
