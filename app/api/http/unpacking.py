"""Unpack a body into a file, up to a bound of its bytes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol

from app.errors import BadRequest, TooLarge
from app.units import CHUNK_BYTES, MEGABYTE


class Sink(Protocol):
    """Where the bytes of a file go."""

    def write(self, data: bytes, /) -> Any:
        """Write the next bytes."""


def decompress(compressed: IO[bytes], encoding: str, sink: Sink, max_bytes: int) -> None:
    """Write the unpacked bytes of a body to `sink`.

    Raises:
        BadRequest: the body is not data of this encoding.
        TooLarge: there are more than `max_bytes`.
    """
    try:
        if encoding == "gzip":
            with gzip.GzipFile(fileobj=compressed) as decompressed:
                copy(decompressed.read, sink, max_bytes)
        else:
            with _open_zstd(compressed) as decompressed:
                copy(decompressed.read, sink, max_bytes)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk failed; the body is not the reason
        raise BadRequest(
            f"The body is not complete {encoding} data, but Content-Encoding says that it is."
        ) from None


def _open_zstd(compressed: IO[bytes]) -> Any:
    # Loading it takes 0.3 s and 40 MB, and few bodies are compressed with Zstandard. Its errors
    # about data are ValueErrors and OSErrors without a number.
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(compressed, mode="r"), "zstd")


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
