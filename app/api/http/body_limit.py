"""Checks of bodies: the key before and after the body, its size, and the charset of a form.

FastAPI reads a body into memory before it checks the key, so the key is checked here first. Routes
for files stream their bodies, and set their own bound with `allow_body`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from http import HTTPStatus
from typing import TypedDict

from python_multipart.multipart import parse_options_header
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.turns.body_slots import BodySlots, Release
from app.errors import BadRequest, PodiumError

MAX_BODY_BYTES = 256 * 1024
OPEN_BODY_BYTES = 32 * 1024  # where no key is needed: forms of pages
SMALL_BODY_BYTES = 16 * 1024  # received without waiting for others
LIMIT = "podium.max_body_bytes"  # key in the scope
STREAMED = "podium.streamed_body"  # key in the scope
SLOTS = "podium.body_slots"  # key in the scope
SLOW_SECONDS = 0.1  # the key is looked up again after a body that took longer
LONGEST_CONTENT_TYPE = 1000  # characters: the time to parse one grows with its square
CHARSETS = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})


class FormLimits(TypedDict):
    """The bounds of a form, as FastAPI and Starlette name them."""

    max_files: int
    max_fields: int
    max_part_size: int  # bytes of a text


FORM_LIMITS = FormLimits(max_files=1, max_fields=20, max_part_size=16 * 1024)


# A form has at most 21 parts, and its delimiter precedes each and is nowhere else.
MOST_DELIMITERS = 64


def allow_body(scope: Scope, max_bytes: int) -> None:
    """Accept a body of `max_bytes` for this request."""
    scope[LIMIT] = max_bytes
    scope[STREAMED] = True


@contextlib.asynccontextmanager
async def body_slot(scope: Scope, holder: str, size: int) -> AsyncGenerator[None]:
    """A slot for a body that is received into memory, for this holder of a key."""
    release = await scope[SLOTS].receiving.take(holder, size)
    try:
        yield
    finally:
        release()


@contextlib.asynccontextmanager
async def upload_slot(scope: Scope, holder: str, *, is_run: bool) -> AsyncGenerator[None]:
    """A slot for a file that this holder of a key sends; further ones wait unread."""
    release = await scope[SLOTS].uploads.take(holder, 4 if is_run else 1)
    try:
        yield
    finally:
        release()


@contextlib.asynccontextmanager
async def report_slot(scope: Scope) -> AsyncGenerator[None]:
    """The slot for the only report that is read and imported at a time."""
    release = await scope[SLOTS].reports.take("", 1)
    try:
        yield
    finally:
        release()


# Returns the id of the request's key, or None if its route needs no key.
Admit = Callable[[Scope], Awaitable[str | None]]
# Refuses a request whose key has ended since it was found.
Confirm = Callable[[Scope], Awaitable[None]]


class BodyRefused(HTTPException):
    """An error of Podium while a body is read. FastAPI lets no other exception pass there."""

    def __init__(self, error: PodiumError) -> None:
        super().__init__(error.status, error.detail, error.headers)
        self.error = error


class BodyLimit:
    """ASGI middleware: 401 before or after a body without a valid key, 413 for a large body.

    A body may take hours, and its key may end meanwhile; then the request is refused after it.
    """

    def __init__(self, app: ASGIApp, admit: Admit, confirm: Confirm) -> None:
        self._app = app
        self._admit = admit
        self._confirm = confirm
        self._slots = BodySlots()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[LIMIT], scope[SLOTS] = MAX_BODY_BYTES, self._slots
        body = _Body(scope, receive, self._admit, self._confirm, self._slots)
        try:
            await self._app(scope, body.receive, send)
        finally:
            body.release()


class _Body:
    """The body of one request."""

    def __init__(
        self, scope: Scope, receive: Receive, admit: Admit, confirm: Confirm, slots: BodySlots
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._admit = admit
        self._confirm = confirm
        self._slots = slots
        self._since = asyncio.get_running_loop().time()
        self._began = False
        self._size = 0
        self._release: Release | None = None

    async def receive(self) -> Message:
        """The next message of the client."""
        if not self._began:
            self._began = True
            await self._begin()
        message = await self._receive()
        part = len(message.get("body", b""))
        if part and not self._size:
            _refuse_charset(self._scope)
        self._size += part
        if self._size > self._scope[LIMIT]:
            raise _too_large(self._scope[LIMIT])
        if self._size and not message.get("more_body") and STREAMED not in self._scope:
            self.release()
            self._release = await self._slots.working.take("", self._size)
        if self._size and message["type"] == "http.request" and not message.get("more_body"):
            await self._end()
        return message

    def release(self) -> None:
        """Release the bytes of this body."""
        if self._release is not None:
            self._release()
            self._release = None

    async def _end(self) -> None:
        if asyncio.get_running_loop().time() - self._since > SLOW_SECONDS:
            await self._confirm(self._scope)

    async def _begin(self) -> None:
        announced = _announced(self._scope)
        if announced is None or STREAMED in self._scope:
            return
        holder = await self._admit(self._scope)
        if holder is None:
            self._scope[LIMIT] = OPEN_BODY_BYTES
        most: int = self._scope[LIMIT]
        if announced > most:
            raise _too_large(most)
        if (announced or most) > SMALL_BODY_BYTES:
            self._release = await self._slots.receiving.take(holder or "", announced or most)


def _announced(scope: Scope) -> int | None:
    """The bytes that a request's head announces: 0 without a number, None without a body."""
    is_chunked = False
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) or None
        is_chunked = is_chunked or name == b"transfer-encoding"
    return 0 if is_chunked else None


def _too_large(most: int) -> HTTPException:
    return HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The body is larger than the {most} bytes that this route accepts.",
    )


def _refuse_charset(scope: Scope) -> None:
    """Refuse a form whose texts Starlette would decode with a codec of the client's choice.

    Some codecs take minutes for a megabyte of text, for which the event loop waits.
    """
    for name, value in scope["headers"]:
        if name != b"content-type" or b"multipart" not in value.lower():
            continue
        if len(value) > LONGEST_CONTENT_TYPE:
            raise HTTPException(
                HTTPStatus.BAD_REQUEST,
                f"The Content-Type is longer than {LONGEST_CONTENT_TYPE} characters.",
            )
        _, parameters = parse_options_header(value)
        # Names are compared in lower case here; Starlette reads `charset` only in lower case.
        charsets = {text.lower() for key, text in parameters.items() if key.lower() == b"charset"}
        if not charsets <= CHARSETS:
            raise HTTPException(
                HTTPStatus.BAD_REQUEST,
                "The Content-Type names another charset than utf-8: forms are read as UTF-8.",
            )


async def without_false_delimiters(
    content_type: str, stream: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """The chunks of a form; refuses one whose data contains its delimiter many times.

    RFC 2046 forbids that. The parser, in the event loop, takes 600 times as long for such a body.

    Raises:
        BadRequest: the delimiter was found more often than any form has parts.
    """
    _, parameters = parse_options_header(content_type)
    delimiter, found = b"\r\n--" + parameters.get(b"boundary", b""), 0
    async for chunk in stream:
        found += chunk.count(delimiter)
        if found > MOST_DELIMITERS:
            raise BadRequest(
                f"The boundary of the multipart body stands in it more than {MOST_DELIMITERS} "
                "times. Choose one that the file does not contain."
            )
        yield chunk
