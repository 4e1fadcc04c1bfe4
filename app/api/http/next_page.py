"""The address of the next page of a list, for notes and for the header `Link` (RFC 8288)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response


def next_address(request: Request, cursor: str | None) -> str:
    """The request's address with this cursor; nothing on the last page."""
    if cursor is None:
        return ""
    kept = [(name, text) for name, text in request.query_params.multi_items() if name != "cursor"]
    return f"{request.url.path}?{urlencode([*kept, ('cursor', cursor)])}"


def with_link(answer: Any, response: Response, following: str) -> Any:
    """The answer, whose headers name the next page; those of JSON are `response`'s."""
    if following:
        told = answer if isinstance(answer, Response) else response
        told.headers["Link"] = f'<{following}>; rel="next"'
    return answer
