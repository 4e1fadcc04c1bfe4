"""Pages of lists as JSON, and the address of the next page for `Link` (RFC 8288)."""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic_core import to_json

from app.thread_pool import ThreadPool

SENT_AT_ONCE = 64 * 1024  # bytes of a long document
MOST_PAGE_BYTES = 1_500_000  # a thousand usual submissions have about 1 MB
# A few threads make all pages. A page takes some 6 MB meanwhile, and because of CPython's lock more
# threads would not be faster: each would only take that memory and delay the event loop.
_pages = ThreadPool(4, thread_name_prefix="pages")
Place = TypeVar("Place", int, str)
Part = bytes | memoryview


def next_address(request: Request, cursor: str | None) -> str:
    """The request's address with this cursor; empty on the last page."""
    if cursor is None:
        return ""
    kept = [(name, text) for name, text in request.query_params.multi_items() if name != "cursor"]
    return f"{request.url.path}?{urlencode([*kept, ('cursor', cursor)])}"


def with_link(answer: Any, response: Response, following: str) -> Any:
    """The answer, whose headers name the next page; those of JSON are `response`'s."""
    if following:
        target = answer if isinstance(answer, Response) else response
        target.headers["Link"] = f'<{following}>; rel="next"'
    return answer


def page_in_parts(
    read: Callable[[Place | None, int], tuple[Sequence[Any], Place | None]],
    after: Place | None,
    limit: int,
    at_once: int,
) -> Response:
    """A page of at most `limit` items, which ends after the part that makes it 1.5 MB.

    `read(after, count)` returns at most `count` items after a position, and the position of the
    last one if more follow. `at_once` items are read together, as many as fit into memory if all
    are long. Call this in a thread: FastAPI would validate all items, and serialize them in the
    event loop.
    """
    made = _pages.submit(
        contextvars.copy_context().run, _document, read, after, limit, at_once
    ).result()
    return Response(made, media_type="application/json")


def _document(
    read: Callable[[Place | None, int], tuple[Sequence[Any], Place | None]],
    after: Place | None,
    limit: int,
    at_once: int,
) -> bytes:
    items: list[bytes] = []
    size = 0
    while len(items) < limit and size < MOST_PAGE_BYTES:
        found, after = read(after, min(at_once, limit - len(items)))
        items += map(to_json, found)
        size = sum(map(len, items))
        if after is None:
            break
    following = to_json(None if after is None else str(after))
    return b'{"items":[' + b",".join(items) + b'],"next_cursor":' + following + b"}"


def page_of_json(items: Iterable[Sequence[Part]], cursor: str | None) -> Response:
    """A page of items that are JSON already. In the event loop, making it would delay others."""
    parts = [part for item in items for part in (b",", *item)][1:]
    return json_in_parts(b'{"items":[', *parts, b'],"next_cursor":' + to_json(cursor) + b"}")


def json_in_parts(*parts: Part) -> Response:
    """A document of these parts, which many answers share, so each takes little memory."""
    size = sum(map(len, parts))
    if size <= SENT_AT_ONCE:
        return Response(b"".join(parts), media_type="application/json")
    return StreamingResponse(
        _pieces(parts), media_type="application/json", headers={"Content-Length": str(size)}
    )


async def _pieces(parts: Iterable[Part]) -> AsyncIterator[bytes]:
    """Join short parts, because each send takes time, however short the part is."""
    together = bytearray()
    for part in parts:
        for at in range(0, len(part), SENT_AT_ONCE):
            piece = part[at : at + SENT_AT_ONCE]
            if len(together) + len(piece) > SENT_AT_ONCE:
                yield bytes(together)
                together.clear()
            together += piece
    yield bytes(together)
