"""Stream bodies that are files to disk, decompressed and bounded; incomplete ones are removed."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from app.api.http.body_limit import FORM_LIMITS, allow_body, without_false_delimiters
from app.api.http.threads import run_in_thread, unpack_in_thread
from app.api.http.unpacking import Sink, copy, decompress, too_large
from app.errors import BadRequest, Invalid, PodiumError, TooLarge
from app.settings import Settings
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.store import BlobStore, Upload
from app.storage.blobs.upload import CHECKED_BYTES

CSV_TYPES = frozenset({"text/csv", "application/csv"})
MEMORY_BODY_BYTES = 256 * 1024  # bytes of a body that may be kept in memory
FORM_OVERHEAD_BYTES = 64 * 1024  # boundaries and part headers around a file of the full size


class UnsupportedMediaType(PodiumError):
    """This endpoint does not read bodies of this format."""

    status = 415


@dataclass(frozen=True)
class _CountedSink:
    sink: Sink
    count: Callable[[int], None]

    def write(self, data: bytes, /) -> None:
        self.count(len(data))
        self.sink.write(data)


def require_csv(request: Request) -> tuple[str, str]:
    """The media type and the encoding of a body that `receive_csv` reads.

    Raises:
        UnsupportedMediaType: neither text/csv nor multipart, or an unknown Content-Encoding.
    """
    media_type, encoding = _media_type(request), _encoding(request)
    if encoding not in ("identity", "gzip", "zstd"):
        raise UnsupportedMediaType(
            f"Content-Encoding {encoding!r} is not supported: use gzip, zstd, or none."
        )
    if media_type == "multipart/form-data" and encoding != "identity":
        raise UnsupportedMediaType("A multipart body cannot have a Content-Encoding here.")
    if media_type != "multipart/form-data" and media_type not in CSV_TYPES:
        raise UnsupportedMediaType(
            f"Content-Type {media_type!r} is not read here. Send the file as text/csv "
            "(curl: -H 'Content-Type: text/csv' --data-binary @submission.csv) "
            "or as the part 'file' of multipart/form-data."
        )
    return media_type, encoding


async def receive_csv(request: Request, sink: Sink, max_bytes: int) -> str:
    """Write a request's CSV file, decompressed, to `sink`. Returns the part `message` of a form.

    Raises:
        UnsupportedMediaType: as `require_csv`.
        TooLarge: more than `max_bytes`, before or after decompression.
        BadRequest: broken compression, or a broken multipart body.
        ClientDisconnect: the connection was cut.
    """
    media_type, encoding = require_csv(request)
    if media_type == "multipart/form-data":
        return await receive_file_part(request, "file", sink, max_bytes)
    if encoding == "identity":
        async for chunk in bounded(request, max_bytes, max_bytes):
            sink.write(chunk)
    else:
        with tempfile.TemporaryFile(dir=body_directory(request)) as compressed:
            async for chunk in reserved(request, bounded(request, max_bytes, max_bytes)):
                compressed.write(chunk)
            compressed.seek(0)
            await unpack_in_thread(decompress, compressed, encoding, sink, max_bytes)
    return ""


def memory_body(request: Request) -> int | None:
    """The bytes of the body, if it is a plain CSV file small enough to keep in memory.

    Nearly all submissions are small. Such a submission needs a thread only once.
    """
    length = request.headers.get("Content-Length", "")
    is_plain_csv = _media_type(request) in CSV_TYPES and _encoding(request) == "identity"
    if not length.isdigit() or int(length) > MEMORY_BODY_BYTES or not is_plain_csv:
        return None
    return int(length)


async def body_in_memory(request: Request, max_bytes: int) -> bytes:
    """The complete body."""
    return b"".join([chunk async for chunk in bounded(request, max_bytes, max_bytes)])


@contextlib.asynccontextmanager
async def received_upload(
    request: Request, blobs: BlobStore, max_bytes: int, count: Callable[[int], None]
) -> AsyncGenerator[tuple[Upload, str], None]:
    """A CSV file whose bytes are all received, and the part `message` of a form.

    The file is discarded unless it is finished. `count` is called with the number of bytes of each
    piece that was written.

    Raises what `receive_csv` raises, and what `count` raises.
    """
    upload = await run_in_thread(blobs.new_upload)
    try:
        yield upload, await receive_csv(request, _CountedSink(upload, count), max_bytes)
    finally:
        upload.discard()


async def receive_file_part(request: Request, part: str, sink: Sink, max_bytes: int) -> str:
    """Write the file in the part called `part` of a multipart body to `sink`.

    Returns the text of the part `message`, or "". Other parts are not read.
    """
    return (await receive_form(request, part, sink, max_bytes)).get("message", "")


async def receive_form(request: Request, part: str, sink: Sink, max_bytes: int) -> dict[str, str]:
    """Write the file in the part called `part` of a multipart body to `sink`.

    Returns the texts of the other parts.
    """
    content_type = request.headers.get("Content-Type", "")
    if not content_type.lower().startswith("multipart/form-data"):
        raise UnsupportedMediaType(f"Send multipart/form-data with the file as part {part!r}.")
    stream = reserved(request, bounded(request, max_bytes + FORM_OVERHEAD_BYTES, max_bytes))
    parser = _Parser(request, without_false_delimiters(content_type, stream))
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError) as error:
        reason = error.message if isinstance(error, MultiPartException) else "no usable boundary"
        raise BadRequest(f"The multipart body cannot be read: {reason.rstrip('.')}.") from None
    try:
        file = form.get(part)
        if not isinstance(file, UploadFile):
            cut = "ends before its last boundary (--BOUNDARY--): send it whole"
            lacks = f"has no file in a part called {part!r}"
            raise Invalid(f"The multipart body {lacks if parser.has_ended else cut}.")
        await unpack_in_thread(copy, file.file.read, sink, max_bytes)
        return {name: value for name, value in form.items() if isinstance(value, str)}
    finally:
        await form.close()


async def bounded(
    request: Request, max_bytes: int, upload_bytes: int | None = None
) -> AsyncGenerator[bytes, None]:
    """The chunks of a request's body. `upload_bytes` is the setting, if that limits the body.

    Raises:
        TooLarge: more than `max_bytes` are announced or have arrived.
    """
    allow_body(request.scope, max_bytes)
    announced = request.headers.get("Content-Length", "")
    if announced.isdigit() and int(announced) > max_bytes:
        raise _beyond(max_bytes, upload_bytes)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            raise _beyond(max_bytes, upload_bytes)
        yield chunk


def _beyond(max_bytes: int, upload_bytes: int | None) -> TooLarge:
    if upload_bytes is not None:
        return too_large(upload_bytes)
    return TooLarge(f"The body is larger than the {max_bytes} bytes that this route accepts.")


class _Parser(MultiPartParser):
    """Writes the file of a form to the data directory, where the disk's reserve is checked."""

    def __init__(self, request: Request, stream: AsyncGenerator[bytes, None]) -> None:
        super().__init__(request.headers, stream, **FORM_LIMITS)
        self._directory = body_directory(request)
        self.has_ended = False  # whether the last boundary was read

    def on_end(self) -> None:
        """Note that the last boundary has arrived."""
        self.has_ended = True

    def on_headers_finished(self) -> None:
        """Begin a part."""
        super().on_headers_finished()
        part = self._current_part
        if part.file is not None:
            part.file.file.close()
            part.file.file = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115 (closed with the form)
            self._files_to_close_on_error[-1] = part.file.file  # type: ignore[call-overload]


def body_directory(request: Request) -> Path:
    """The directory of incomplete files. As for stored files, part of its disk stays free."""
    directory = _settings(request).data_dir / "tmp"
    directory.mkdir(exist_ok=True)
    return directory


async def reserved(
    request: Request, stream: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """The chunks of a body that is written to the data directory.

    Raises:
        DiskReserved: the disk is nearly full.
    """
    settings = _settings(request)
    reserve = DiskReserve(settings.data_dir, settings.disk_reserve_percent)
    reserve.require()
    unchecked = 0
    async for chunk in stream:
        unchecked += len(chunk)
        if unchecked >= CHECKED_BYTES:
            reserve.require(len(chunk))
            unchecked = 0
        yield chunk


def _settings(request: Request) -> Settings:
    found: Settings = request.app.state.context.settings
    return found


def _media_type(request: Request) -> str:
    return request.headers.get("Content-Type", "text/csv").split(";")[0].strip().lower()


def _encoding(request: Request) -> str:
    # Two headers are one list, which means a body that was compressed twice.
    encoding = ", ".join(request.headers.getlist("Content-Encoding") or ["identity"])
    encoding = encoding.strip().lower()
    return "gzip" if encoding == "x-gzip" else encoding  # one and the same: RFC 9110, 8.4.1.3
