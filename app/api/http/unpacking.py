"""Unpack a body into a file, up to a bound of its bytes."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any, Protocol

from app.errors import BadRequest, TooLarge
from app.units import CHUNK_BYTES, MEGABYTE

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A frame names the window that it needs, and the unpacker takes so much memory: by default up to
# 128 MB for a body of a few bytes. RFC 9659 bounds it for the content coding of HTTP.
WINDOW_LOG = 23
WINDOW_BYTES = 1 << WINDOW_LOG
TOO_MUCH_MEMORY = "requires too much memory"  # libzstd's words; its error has no code

# A body may be of several members (gzip) or frames (zstd), each of which takes a new decompressor:
# those without content, of 9 bytes, took 100 seconds for 100 MB. bgzip, which writes the smallest
# members in use, has 16,384 in a gigabyte.
MOST_MEMBERS = 1 << 16
PIECE_BYTES = 64 * 1024  # at the end of a member, the rest of a piece is copied
GZIP_WRAPPED = 16 + zlib.MAX_WBITS


class Sink(Protocol):
    """Where the bytes of a file go."""

    def write(self, data: bytes, /) -> Any:
        """Write the next bytes."""


def decompress(compressed: IO[bytes], encoding: str, sink: Sink, max_bytes: int) -> None:
    """Write the unpacked bytes of a body, a file at its start, to `sink`. No bytes unpack to none.

    Raises:
        BadRequest: the body is not data of this encoding, or needs too much memory to be unpacked,
            or has more than MOST_MEMBERS members or frames.
        TooLarge: there are more than `max_bytes`.
    """
    if not compressed.read(1):
        return
    compressed.seek(0)
    members = _gzip_members if encoding == "gzip" else _zstd_frames
    size = 0
    try:
        for piece in members(partial(compressed.read, PIECE_BYTES)):
            size += len(piece)
            if size > max_bytes:
                raise too_large(max_bytes)
            sink.write(piece)
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed; the body is not the reason
        if TOO_MUCH_MEMORY in str(error):
            raise BadRequest(
                f"To unpack the body takes a window of more than {WINDOW_BYTES / MEGABYTE:g} MB, "
                "which RFC 9659 does not allow in HTTP. Compress it without --ultra and --long."
            ) from None
        raise BadRequest(
            f"The body is not complete {encoding} data, but Content-Encoding says that it is."
        ) from None


def _gzip_members(read: Callable[[], bytes]) -> Iterator[bytes]:
    """The unpacked bytes of each member in turn. Zeros after a member are padding."""
    # The module gzip reads names in headers, and padding, byte by byte in Python.
    packed = read()
    for _ in range(MOST_MEMBERS):
        member = zlib.decompressobj(GZIP_WRAPPED)
        while not member.eof:
            piece = member.decompress(packed, CHUNK_BYTES)
            packed = member.unconsumed_tail
            yield piece
            if not (piece or packed or member.eof):
                packed = _more(read)
        packed = member.unused_data.lstrip(b"\0")
        while not packed:
            if not (packed := read()):
                return
            packed = packed.lstrip(b"\0")
    raise _too_many()


def _zstd_frames(read: Callable[[], bytes]) -> Iterator[bytes]:
    """The unpacked bytes of each frame in turn."""
    options = {int(zstd.DecompressionParameter.window_log_max): WINDOW_LOG}
    packed = read()
    for _ in range(MOST_MEMBERS):
        frame = zstd.ZstdDecompressor(options=options)
        while not frame.eof:
            yield frame.decompress(packed, CHUNK_BYTES)
            packed = _more(read) if frame.needs_input and not frame.eof else b""
        packed = frame.unused_data or read()
        if not packed:
            return
    raise _too_many()


def _more(read: Callable[[], bytes]) -> bytes:
    if packed := read():
        return packed
    raise EOFError


def _too_many() -> BadRequest:
    return BadRequest(
        f"The body is compressed as more than {MOST_MEMBERS:,} members or frames. Compress it in "
        "one piece."
    )


def copy(read: Callable[[int], bytes], sink: Sink, max_bytes: int) -> None:
    """Write all that `read` gives to `sink`.

    Raises:
        TooLarge: there are more than `max_bytes`.
    """
    size = 0
    while chunk := read(CHUNK_BYTES):
        size += len(chunk)
        if size > max_bytes:
            raise too_large(max_bytes)
        sink.write(chunk)


def too_large(max_bytes: int) -> TooLarge:
    """The refusal of a body beyond `max_bytes`."""
    return TooLarge(
        f"The body is larger than the {max_bytes / MEGABYTE:g} MB this service accepts "
        "(PODIUM_MAX_UPLOAD_MB)."
    )
