"""The body of a report: kept on the disk until no other one is in memory."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncGenerator

from fastapi import Request

from app.api.http.body_limit import report_slot
from app.api.http.threads import run_in_thread
from app.api.http.upload import body_directory, bounded, reserved
from app.units import MEGABYTE

MAX_REPORT_BYTES = 64 * MEGABYTE


@contextlib.asynccontextmanager
async def received_report(request: Request) -> AsyncGenerator[bytes]:
    """The body of a request. Within the block, no other such body is in memory.

    Reports are parsed as one document, which takes many times their bytes.

    Raises:
        TooLarge: it has more than MAX_REPORT_BYTES.
        DiskReserved: the disk is nearly full.
    """
    with tempfile.TemporaryFile(dir=body_directory(request)) as file:
        async for chunk in reserved(request, bounded(request, MAX_REPORT_BYTES)):
            file.write(chunk)
        async with report_slot(request.scope):
            file.seek(0)
            yield await run_in_thread(file.read)
