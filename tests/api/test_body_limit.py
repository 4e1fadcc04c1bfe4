"""A key is asked for before anything of a body is read, and so is the size that is announced."""

from __future__ import annotations

import asyncio

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from app.api.http.body_limit import MAX_BODY_BYTES, OPEN_BODY_BYTES, BodyLimit


def received(holder: str | None, announced: int) -> list[str]:
    """What was asked of whom, in order, when an application reads a body of this size."""
    asked: list[str] = []

    async def admit(scope: Scope) -> str | None:
        asked.append("key")
        if holder == "wrong":
            raise HTTPException(401)
        return holder

    async def confirm(scope: Scope) -> None:
        pass

    async def receive() -> Message:
        asked.append("body")
        return {"type": "http.request", "body": b"x" * announced}

    async def send(message: Message) -> None:
        pass

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async def serve() -> None:
        scope = {"type": "http", "headers": [(b"content-length", str(announced).encode())]}
        limit = BodyLimit(read, admit, confirm)
        for _ in range(9):  # more than all bodies together may have: each gives its place back
            asked.clear()
            try:
                await asyncio.wait_for(limit(dict(scope), receive, send), 5)
            except HTTPException as error:
                asked.append(str(error.status_code))

    asyncio.run(serve())
    return asked


@pytest.mark.parametrize(
    ("holder", "announced", "expected"),
    [
        ("wrong", 10, ["key", "401"]),
        (None, OPEN_BODY_BYTES, ["key", "body"]),
        (None, OPEN_BODY_BYTES + 1, ["key", "413"]),
        ("key_1", MAX_BODY_BYTES, ["key", "body"]),
        ("key_1", MAX_BODY_BYTES + 1, ["key", "413"]),
    ],
)
def test_who_may_send_how_much_is_known_before_it_is_read(
    holder: str | None, announced: int, expected: list[str]
) -> None:
    assert received(holder, announced) == expected
