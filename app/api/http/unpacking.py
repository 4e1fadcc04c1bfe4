"""Unpack a body into a file, up to a bound of its bytes."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable
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


class Sink(Protocol):
    """Where the bytes of a file go."""

    def write(self, data: bytes, /) -> Any:
        """Write the next bytes."""


def decompress(compressed: IO[bytes], encoding: str, sink: Sink, max_bytes: int) -> None:
    """Write the unpacked bytes of a body, a file at its start, to `sink`. No bytes unpack to none.

    Raises:
        BadRequest: the body is not data of this encoding, or needs too much memory to be unpacked.
        TooLarge: there are more than `max_bytes`.
    """
    if not compressed.read(1):
        return
    compressed.seek(0)
    try:
        with _opened(compressed, encoding) as decompressed:
            copy(decompressed.read, sink, max_bytes)
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


def _opened(compressed: IO[bytes], encoding: str) -> gzip.GzipFile | zstd.ZstdFile:
    if encoding == "gzip":
        return gzip.GzipFile(fileobj=compressed)
    options = {int(zstd.DecompressionParameter.window_log_max): WINDOW_LOG}
    return zstd.ZstdFile(compressed, options=options)


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
