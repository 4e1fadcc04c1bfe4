"""Files as responses: equal headers from every server, and a lease until the last byte is sent."""

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

    `at` is the time of its creation, from the database. A cached file's time differs between
    machines, so a download that resumes at another server would start again.
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
    """Whether the client already has these bytes."""
    return f'"{identity}"' in request.headers.get("If-None-Match", "")


def not_modified(identity: str) -> Response:
    """The response 304: the client has these bytes."""
    return Response(status_code=304, headers={"ETag": f'"{identity}"'})
