"""The address under which a client reached Podium."""

from __future__ import annotations

import re

from fastapi import Request

from app.errors import BadRequest

ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
ORIGIN_HEADER = "X-Podium-Origin"  # the address of `podium proxy`, which it adds to requests


def origin(request: Request) -> str:
    """Scheme and host as the client wrote them, for addresses in answers to this client."""
    host = request.headers.get("Host", "")
    found = request.headers.get(ORIGIN_HEADER) or f"{request.url.scheme}://{host}"
    if not ORIGIN.fullmatch(found):
        raise BadRequest("The Host header does not name a host.")
    return found
