"""Files as answers: the same from every server, and there until the last byte was sent."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

from fastapi import Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from app.storage.blobs.lease import Lease


def leased_file(
    lease: Lease,
    identity: str,
    at: datetime,
    *,
    media_type: str = "application/octet-stream",
    filename: str | None = None,
) -> FileResponse:
    """The leased file; `identity` names its bytes. The lease ends with the response.

    `at`, when it came to be, is the same on every machine: what a file system says of a file in
    the cache is not, and a download that goes on at another server would begin anew.
    """
    return FileResponse(
        lease.path,
        media_type=media_type,
        filename=filename,
        headers={
            "ETag": f'"{identity}"',
            "Last-Modified": format_datetime(
                at.astimezone(UTC).replace(microsecond=0), usegmt=True
            ),
        },
        background=BackgroundTask(lease.close),
    )


def is_known(request: Request, identity: str) -> bool:
    """Whether the client has these bytes already."""
    return f'"{identity}"' in request.headers.get("If-None-Match", "")


def not_modified(identity: str) -> Response:
    """That the client has them."""
    return Response(status_code=304, headers={"ETag": f'"{identity}"'})
