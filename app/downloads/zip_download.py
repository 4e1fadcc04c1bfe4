"""A zip archive on a server: its list of members first, then single members or everything."""

from __future__ import annotations

import errno
import io
import itertools
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from app.downloads.errors import DamagedDownload
from app.downloads.extents import Range
from app.downloads.http_ranges import HttpRanges
from app.downloads.partial_file import PartialFile
from app.errors import Invalid

LEAST_BYTES = 1 << 16  # a request for fewer bytes takes as long
# Errors of the standard library on a damaged archive; RuntimeError for one with a password.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OverflowError,
    RuntimeError,
    ValueError,
)
Advance = Callable[[int], None]  # called with the number of bytes that arrived
Room = Callable[[int], None]  # raises if the disk has no room for this number of bytes
BLOCK = 1 << 20


class ZipDownload:
    """The archive at `path`, as far as it is downloaded; `ranges` fetches the rest.

    `advance` is called as bytes arrive, `room` before they are written.
    """

    def __init__(
        self, path: Path, ranges: HttpRanges, *, advance: Advance | None = None,
        room: Room | None = None,
    ) -> None:  # fmt: skip
        self._partial = PartialFile(path)
        self._ranges = ranges
        self._advance, self._room = advance, room
        self._spans: dict[str, Range] = {}
        self._checked: set[str] = set()  # members with the right CRC-32
        self.members: list[zipfile.ZipInfo] = []

    @property
    def file(self) -> Path:
        """The path of the bytes; parts that were not downloaded are zeros."""
        return self._partial.file

    @property
    def length(self) -> int:
        """The length of the archive."""
        return self._partial.identity.bytes if self._partial.identity else 0

    @property
    def unpacked_bytes(self) -> int:
        """The length of all members, unpacked."""
        return sum(member.file_size for member in self.members)

    @property
    def missing_bytes(self) -> int:
        """The bytes that were not downloaded yet."""
        return self.length - self._partial.there()

    def open(self) -> None:
        """Fetch the central directory if it is missing.

        For a partial archive there is no request: its first ranged request detects a replacement.

        Raises:
            Invalid: it is not a zip archive.
            DownloadChanged, DownloadGone, NoRanges, Forbidden, Unavailable: as `HttpRanges.stream`.
        """
        if self._partial.identity is None:
            self._partial.begin(self._ranges.identify())
        self._ranges.identity = self._partial.identity
        self.fetch_range(max(0, self.length - LEAST_BYTES), self.length)
        try:
            with zipfile.ZipFile(_Window(self)) as archive:
                self.members, end = archive.infolist(), archive.start_dir
        except (*DAMAGE, OSError) as error:
            require_damage(error)
            raise Invalid("What Kaggle sent is not a zip archive, so it has no list.") from None
        self._partial.sync()
        starts = [*sorted({member.header_offset for member in self.members}), end]
        following = dict(itertools.pairwise(starts))
        self._spans = {
            member.filename: (member.header_offset, following[member.header_offset])
            for member in self.members
        }

    def fetch(self, name: str) -> None:
        """Fetch one member, and compare its bytes with its CRC-32.

        Raises:
            KeyError: there is no such member.
            DamagedDownload: it is damaged, also when it is downloaded again.
            DownloadChanged: and as `open`.
        """
        span = self._spans[name]
        for _ in range(2):
            if name in self._checked:
                return
            self.fetch_range(*span)
            self._partial.sync()
            if self._is_whole(name):
                self._checked.add(name)
            else:
                self._partial.forget([span])
        if name not in self._checked:
            raise DamagedDownload(
                f"{name} has another CRC-32 than the archive says, twice, or cannot be unpacked: "
                "Kaggle's archive itself may be damaged."
            )

    def start_anew(self) -> None:
        """Start again with the present archive on the server, and fetch its central directory.

        Raises:
            Invalid: and as `open`.
        """
        self._partial.begin(self._ranges.identify())
        self._checked.clear()
        self.open()

    def fetch_all(self) -> None:
        """Fetch all missing bytes, from the start to the end.

        Raises:
            DownloadChanged: and as `open`.
        """
        self.fetch_range(0, self.length)
        self._partial.sync()

    def fetch_range(self, start: int, end: int) -> None:
        """Fetch the missing bytes of a range, and some more if they are few."""
        for first, last in self._partial.missing(start, end):
            after = min(self.length, max(last, first + LEAST_BYTES))
            for gap_start, gap_end in self._partial.missing(first, after):
                at = gap_start
                if self._room is not None:
                    self._room(gap_end - gap_start)
                for piece in self._ranges.stream(gap_start, gap_end):
                    if self._room is not None:
                        self._room(len(piece))
                    self._partial.write(at, piece)
                    at += len(piece)
                    if self._advance is not None:
                        self._advance(len(piece))

    def forget_damaged(self) -> int:
        """Read all members that are there; those with a wrong CRC-32 count as not downloaded.

        Returns their number.
        """
        damaged = [
            self._spans[name]
            for name, span in self._spans.items()
            if not self._partial.missing(*span) and not self._is_whole(name)
        ]
        if damaged:
            self._partial.forget(damaged)
        return len(damaged)

    def read(self, start: int, size: int) -> bytes:
        """Bytes of the archive, fetched if they are missing."""
        end = min(start + size, self.length)
        if start < end:
            self.fetch_range(start, end)
        return self._partial.read(start, max(0, end - start))

    def close(self) -> None:
        """Keep the downloaded bytes for the next time. The connection stays open."""
        self._partial.close()

    def _is_whole(self, name: str) -> bool:
        try:
            with zipfile.ZipFile(self.file) as archive, archive.open(name) as member:
                while member.read(BLOCK):
                    pass
        except (*DAMAGE, OSError) as error:
            require_damage(error)
            return False
        return True


def require_damage(error: Exception) -> None:
    """Raise an error of the system. Damage that bz2 or a seek finds is also an OSError."""
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error


class _Window(io.RawIOBase):
    """The archive as a file that can be read at any position."""

    def __init__(self, download: ZipDownload) -> None:
        self._download = download
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._download.length}[whence]
        if base + offset < 0:
            raise OSError("a place before the start of the file")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._download.read(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
