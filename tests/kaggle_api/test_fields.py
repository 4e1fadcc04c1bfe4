"""The fields of a call: absent ones have the zero value of their type, wrong ones are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.errors import BadRequest, NotFound
from app.kaggle_api.fields import LARGEST, LONGEST_TEXT, MOST_OF_PAGE, Fields

ID = "sub_" + "0" * 26
Read = Callable[[Fields], Any]
READ: dict[str, Read] = {
    "text": lambda fields: fields.text("x"),
    "line": lambda fields: fields.line("x"),
    "required": lambda fields: fields.required("x"),
    "integer": lambda fields: fields.integer("x"),
    "flag": lambda fields: fields.flag("x"),
    "slug": lambda fields: fields.slug("x"),
    "page": lambda fields: fields.page(20),
    "page_before": lambda fields: fields.page_before(20),
}


@pytest.mark.parametrize(
    ("how", "document", "found"),
    [
        ("text", {}, ""), ("text", {"x": None}, ""), ("text", {"x": "\u00e9\n"}, "\u00e9\n"),
        ("text", {"x": "a" * LONGEST_TEXT}, "a" * LONGEST_TEXT),
        ("line", {"x": "a\nb\t\u2028c"}, "a b  c"), ("required", {"x": "a"}, "a"),
        ("integer", {}, 0), ("integer", {"x": "12"}, 12), ("integer", {"x": LARGEST}, LARGEST),
        ("integer", {"x": "9" * 15}, 10**15 - 1), ("flag", {}, False), ("flag", {"x": True}, True),
        ("slug", {"x": "https://here/c/tiny-1/"}, "tiny-1"), ("page", {}, (0, 20)),
        ("page", {"page": -1}, (0, 20)), ("page", {"page": 3}, (40, 20)),
        ("page", {"page": LARGEST}, (LARGEST, 20)), ("page", {"pageToken": "40"}, (40, 20)),
        ("page", {"pageToken": "9" * 15, "pageSize": 5000}, (10**15 - 1, MOST_OF_PAGE)),
        ("page_before", {"pageToken": ID, "pageSize": 7}, (ID, 0, 7)),
        ("page_before", {"page": 2}, (None, 20, 20)),
    ],
)  # fmt: skip
def test_what_a_field_is_read_as(how: str, document: dict[str, Any], found: object) -> None:
    assert READ[how](Fields(document)) == found


@pytest.mark.parametrize(
    ("how", "document", "words"),
    [
        *(("text", {"x": value}, "x must be a text") for value in (1, True, [])),
        ("text", {"x": "a" * (LONGEST_TEXT + 1)}, "longer than 4000 characters"),
        *(("text", {"x": value}, "not text") for value in ("\0", "a\ud800", "\udfff")),
        *(("required", {"x": value}, "x is missing") for value in ("", None)),
        *(("integer", {"x": value}, "x must be a whole number from 0")
          for value in ("-1", "x", "\u00b2", "9" * 18, "9" * 5000, -1, 1.5, True, LARGEST + 1, [])),
        *(("flag", {"x": value}, "x must be true or false") for value in ("true", 1, [])),
        ("page", {"page": -2}, "page must be a whole number from -1"),
        *(("page", {"pageToken": token}, "was not made by this service")
          for token in ("x", "-1", "9" * 16, "\u0663", ID)),
    ],
)  # fmt: skip
def test_what_is_refused(how: str, document: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        READ[how](Fields(document))


@pytest.mark.parametrize("address", ["a_b", "/", "https://here/c/?"])
def test_what_is_no_name_of_a_competition_is_not_found(address: str) -> None:
    with pytest.raises(NotFound, match="There is no competition"):
        Fields({"competitionName": address}).slug()
