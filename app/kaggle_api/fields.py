"""The body of a call: a JSON object whose absent fields have the zero value of their type."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from fastapi import Depends, Request

from app.api.http.upload import bounded
from app.domain.competition import SLUG
from app.errors import BadRequest, NotFound

MAX_BODY_BYTES = 32 * 1024
MOST_FIELDS = 100
MOST_OF_PAGE = 1000  # items of a list in one answer
LONGEST_TEXT = 4000
SUBMISSION_ID = re.compile(r"sub_[0-9a-f]{26}")
LARGEST = 1 << 53  # whole numbers up to this are exact in every JSON reader


class Fields:
    """The fields of a call's body, each checked when it is read."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def text(self, name: str) -> str:
        """A text; empty if the field is absent."""
        value = self._document.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise BadRequest(f"{name} must be a text.")
        if len(value) > LONGEST_TEXT:
            raise BadRequest(f"{name} is longer than {LONGEST_TEXT} characters.")
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise BadRequest(f"{name} has characters that are not text.")
        return value

    def line(self, name: str) -> str:
        """A text without the control characters that no header can have either."""
        return "".join(one if one.isprintable() else " " for one in self.text(name))

    def required(self, name: str) -> str:
        """A text that must not be empty."""
        value = self.text(name)
        if not value:
            raise BadRequest(f"{name} is missing.")
        return value

    def integer(self, name: str, least: int = 0) -> int:
        """A whole number; 0 if the field is absent. 64-bit numbers may come as text."""
        value = self._document.get(name)
        if value is None:
            return 0
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 18:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST:
            raise BadRequest(f"{name} must be a whole number from {least}.")
        return value

    def flag(self, name: str) -> bool:
        """Whether the field is true; absent is false."""
        value = self._document.get(name)
        if value is not None and not isinstance(value, bool):
            raise BadRequest(f"{name} must be true or false.")
        return value or False

    def slug(self, name: str = "competitionName") -> str:
        """The competition: its slug, or an address that ends in it."""
        slug = self.required(name).rstrip("/").rsplit("/", 1)[-1]
        if not SLUG.fullmatch(slug):
            raise NotFound(f"There is no competition {slug[:100]!r} for this key.")
        return slug

    def page_before(self, usual: int) -> tuple[str | None, int, int]:
        """A page of a list that grows at its beginning: the last id seen, the offset, and the size.

        Page tokens are ids, so that new items do not move others to a later page.
        """
        token = self.text("pageToken")
        if SUBMISSION_ID.fullmatch(token):
            return token, 0, self._size(usual)
        return None, *self.page(usual)

    def page(self, usual: int) -> tuple[int, int]:
        """The offset and the size of a page of a list. Page tokens are offsets."""
        size = self._size(usual)
        token = self.text("pageToken")
        if not token:
            page = self.integer("page", least=-1)  # kaggle 1.8 sends -1 for none
            return min(max(page - 1, 0) * size, LARGEST), size
        if not (token.isascii() and token.isdigit() and len(token) < 16):
            raise BadRequest("pageToken was not made by this service.")
        return int(token), size

    def _size(self, usual: int) -> int:
        return min(self.integer("pageSize") or usual, MOST_OF_PAGE)


async def fields(request: Request) -> Fields:
    """The fields of this call."""
    body = b"".join([chunk async for chunk in bounded(request, MAX_BODY_BYTES)])
    try:
        document = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(document, dict):
        raise BadRequest("The body must be a JSON object.")
    if len(document) > MOST_FIELDS:
        raise BadRequest(f"The body has more than {MOST_FIELDS} fields.")
    # Fields that are lists or objects are never read, and take many times the bytes of the body.
    return Fields({k: [] if isinstance(v, list | dict) else v for k, v in document.items()})


Body = Annotated[Fields, Depends(fields)]
