"""Files as responses: equal headers from every server, and a lease until the last byte is sent."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from io import BufferedReader
from typing import Any

import anyio
from fastapi import Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask
from starlette.types import Receive, Scope, Send

from app.api.http.security_headers import ONE_READER
from app.api.http.threads import find_file
from app.api.http.turns.request_turns import give_turn_back
from app.errors import DamagedFile, PodiumError
from app.regular_file import open_regular
from app.storage.blobs.lease import Lease
from app.system_limits import is_used_up

# No file has a size of 18 digits; int() refuses numbers of 5,000.
_ONE = r"(?:[0-9]{1,18}-(?:[0-9]{1,18})?|-[0-9]{1,18})"
RANGES = re.compile(rf"bytes=\s*{_ONE}(?:\s*,\s*{_ONE})*\s*", re.IGNORECASE)

# Also for signed addresses, which have no key in a header: no cache may serve them after their key
# has ended.
KEPT = {"Cache-Control": ONE_READER}


class RangeNotSatisfiable(PodiumError):
    """The file has no bytes in the range asked for."""

    status = 416


class OpenedFile(FileResponse):
    """A file that was opened before the answer begins.

    FileResponse opens it after it has sent 200. If that fails, the answer breaks off without an
    error.
    """

    def __init__(self, file: BufferedReader, lease: Lease, **options: Any) -> None:
        super().__init__(
            lease.path,
            stat_result=os.fstat(file.fileno()),
            background=BackgroundTask(lease.close),
            **options,
        )
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, or the requested range of it."""
        with self._file:
            await super().__call__(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _open_file(self) -> AsyncIterator[anyio.AsyncFile[bytes]]:
        yield anyio.wrap_file(self._file)


async def leased_file(
    request: Request,
    find: Callable[[], Lease],
    identity: str,
    at: datetime,
    *,
    media_type: str = "application/octet-stream",
    filename: str | None = None,
) -> FileResponse:
    """The file that `find` leases; `identity` names its bytes. The lease ends with the response.

    `at` is the time of its creation, from the database. A cached file's time differs between
    machines, so a download that resumes at another server would start again.

    Raises:
        RangeNotSatisfiable: a range asked for begins beyond the file's last byte.
        DamagedFile, StoreAway: the file cannot be opened.
        OSError: this process can open no more files.
    """
    give_turn_back(request.scope)
    modified = format_datetime(at.astimezone(UTC).replace(microsecond=0), usegmt=True)
    with contextlib.ExitStack() as unless_answered:
        lease, file = await find_file(identity, _opened, find)
        unless_answered.callback(lease.close)
        unless_answered.enter_context(file)
        size = os.fstat(file.fileno()).st_size
        _check_ranges(request, size, (f'"{identity}"', modified))
        unless_answered.pop_all()
    return OpenedFile(
        file,
        lease,
        media_type=media_type,
        filename=filename,
        headers={"ETag": f'"{identity}"', "Last-Modified": modified, **KEPT},
    )


def _opened(find: Callable[[], Lease]) -> tuple[Lease, BufferedReader]:
    lease = find()
    try:
        return lease, open_regular(lease.path)
    except OSError as error:
        lease.close()
        if is_used_up(error):
            raise  # this says nothing about the file
        raise DamagedFile(
            f"The stored file {lease.path} cannot be opened: {error.strerror}."
        ) from None


def _check_ranges(request: Request, size: int, validators: tuple[str, str]) -> None:
    """Refuse a range beyond the end; drop a Range header that is not well formed (RFC 9110).

    FileResponse would answer both in plain text, and would not end the lease.
    """
    asked = request.headers.get("Range")
    if asked is None or request.headers.get("If-Range", validators[0]) not in validators:
        return
    ranges = [part.strip().split("-") for part in asked.partition("=")[2].split(",")]
    if not RANGES.fullmatch(asked) or any(
        first and last and int(first) > int(last) for first, last in ranges
    ):
        kept = [(name, value) for name, value in request.scope["headers"] if name != b"range"]
        request.scope["headers"] = kept
    elif any(int(first) >= size if first else int(last) == 0 or not size for first, last in ranges):
        error = RangeNotSatisfiable(
            f"The file has {size} bytes, and none in the range {asked[:100]}."
        )
        error.headers = {"Content-Range": f"bytes */{size}"}
        raise error


def is_known(request: Request, identity: str, at: datetime) -> bool:
    """Whether the client already has these bytes, which exist since `at` (RFC 9110, 13.1)."""
    if "If-None-Match" in request.headers:
        return has_tag(request, identity)
    try:
        since = parsedate_to_datetime(request.headers.get("If-Modified-Since", ""))
        return at.replace(microsecond=0) <= since.replace(tzinfo=since.tzinfo or UTC)
    except (ValueError, OverflowError):  # not a date, or one that does not exist
        return False


def has_tag(request: Request, identity: str) -> bool:
    """Whether `If-None-Match` names these bytes, also in a list or weakened by a proxy."""
    tags = request.headers.get("If-None-Match", "")
    return f'"{identity}"' in tags or tags.strip() == "*"


def not_modified(identity: str) -> Response:
    """The response 304: the client has these bytes."""
    return Response(status_code=304, headers={"ETag": f'"{identity}"', **KEPT})
