"""Unpack a body into a file, up to a limit of its bytes."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

from app.errors import BadRequest, TooLarge
from app.units import CHUNK_BYTES, MEGABYTE

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A frame names the window that it needs, and the decompressor allocates it: by default up to 128 MB
# for a body of a few bytes. RFC 9659 limits it for HTTP.
WINDOW_LOG = 23
WINDOW_BYTES = 1 << WINDOW_LOG
TOO_MUCH_MEMORY = "requires too much memory"  # libzstd's message, because its error has no code
# A body may consist of parts (members or frames), such as bgzip's parts of 64 KB. To begin a part
# takes as long as unpacking some kilobytes, and a part may have only 8 bytes.
MOST_PARTS = 20_000
READ_BYTES = 32 * 1024  # packed bytes at a time; the bytes after a part are copied


class Sink(Protocol):
    """A destination for the bytes of a file."""

    def write(self, data: bytes, /) -> Any:
        """Write the next bytes."""


class _Decoder(Protocol):
    """Unpacks one part of a body, as the decoders of Python's `zstd`, `lzma` and `bz2`."""

    @property
    def eof(self) -> bool:
        """Whether the part has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing to unpack before it gets more bytes."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the end of the part."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Unpack at most `max_length` bytes."""


class _GzipDecoder:
    """zlib's decoder, for a member of gzip."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length)


def _new_zstd() -> _Decoder:
    decoder: _Decoder = zstd.ZstdDecompressor(
        options={int(zstd.DecompressionParameter.window_log_max): WINDOW_LOG}
    )
    return decoder


def decompress(compressed: IO[bytes], encoding: str, sink: Sink, max_bytes: int) -> None:
    """Write the unpacked bytes of a body to `sink`. An empty body unpacks to nothing.

    Raises:
        BadRequest: the body is not data of this encoding, needs too much memory to be unpacked, or
            has too many parts.
        TooLarge: there are more than `max_bytes`.
    """
    decoder, padding = (_GzipDecoder, b"\0") if encoding == "gzip" else (_new_zstd, b"")
    pieces = _unpacked(compressed, decoder, padding)
    try:
        copy(lambda _: next(pieces, b""), sink, max_bytes)
    except (EOFError, zlib.error, zstd.ZstdError) as error:
        if TOO_MUCH_MEMORY in str(error):
            raise BadRequest(
                f"To unpack the body takes a window of more than {WINDOW_BYTES / MEGABYTE:g} MB, "
                "which RFC 9659 does not allow in HTTP. Compress it without --ultra and --long."
            ) from None
        raise BadRequest(
            f"The body is not complete {encoding} data, but Content-Encoding says that it is."
        ) from None


def _unpacked(
    compressed: IO[bytes], new_decoder: Callable[[], _Decoder], padding: bytes
) -> Iterator[bytes]:
    """The unpacked bytes, in pieces that are not empty. There may be `padding` after each part.

    Raises:
        EOFError: the last part is not complete.
    """
    parts, data = 0, compressed.read(READ_BYTES)
    while data:
        parts += 1
        if parts > MOST_PARTS:
            raise BadRequest(
                f"The body is joined of more than {MOST_PARTS:,} parts: compress the file as one."
            )
        decoder = new_decoder()
        while not decoder.eof:
            if decoder.needs_input and not data:
                data = compressed.read(READ_BYTES)
                if not data:
                    raise EOFError
            if piece := decoder.decompress(data, CHUNK_BYTES):
                yield piece
            data = b""
        data = decoder.unused_data.lstrip(padding)
        while not data and (data := compressed.read(READ_BYTES)):
            data = data.lstrip(padding)


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
