"""Errors of pydantic in the words of somebody who writes a `competition.toml`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel

from app.domain.base_model import CODE

EXPECTED = {
    "string_type": "text in quotes",
    "int_type": "a whole number, without quotes",
    "int_from_float": "a whole number",
    "float_type": "a number, without quotes",
    "finite_number": "a finite number",
    "bool_type": "true or false, without quotes",
    "list_type": 'a list, as ["a", "b"]',
    "tuple_type": 'a list, as ["a", "b"]',
    "dict_type": "a table, as { key = value }",
    "model_type": "a table, as { key = value }",
    "model_attributes_type": "a table, as { key = value }",
    "date_type": "a date, as 2024-08-01",
    "date_parsing": "a date, as 2024-08-01",
    "date_from_datetime_parsing": "a date, as 2024-08-01",
    "string_too_short": "text that is not empty",
}
PATTERNS = {CODE: "small letters, digits and _, of which the first is a letter"}
COLUMNS = 'a table of columns, as: [submission.columns] count = { kind = "number" }'
BOUNDS = {
    "greater_than": ("greater than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def toml_message(error: Any, location: Sequence[str], model: type[BaseModel]) -> str:
    """The message of one pydantic error; `location` is the path of keys in the file."""
    kind = str(error["type"])
    if kind == "missing":
        return "this key is required"
    if kind == "extra_forbidden":
        return _unknown_key(location, model)
    if list(location) == ["submission", "columns"] and kind in EXPECTED:
        return f"expected {COLUMNS}"
    return value_message(error)


def value_message(error: Any) -> str:
    """The message of a pydantic error about one value: what was expected, and what is there."""
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind in ("union_tag_invalid", "literal_error", "enum"):
        names = context.get("expected_tags") or context.get("expected") or ""
        given = context.get("tag", error["input"])
        return f"{given!r} is not one of {names}"
    if kind == "union_tag_not_found":
        return 'expected a table with a kind, as { kind = "number" }'
    if kind in BOUNDS:
        words, name = BOUNDS[kind]
        return f"expected a number {words} {context.get(name)}, not {error['input']!r}"
    if kind == "too_long":
        return f"expected at most {context['max_length']} of them, not {context['actual_length']}"
    if kind == "string_too_long":
        return f"expected at most {context['max_length']} characters, not {len(error['input'])}"
    if context.get("pattern") in PATTERNS:
        return f"expected {PATTERNS[context['pattern']]}, not {error['input']!r}"
    if kind in EXPECTED:
        given = error["input"]
        shown = f", not {given!r}" if isinstance(given, str | int | float) else ""
        return f"expected {EXPECTED[kind]}{shown}"
    text = str(error["msg"]).removeprefix("Value error, ")
    return text.replace("Input should be", "expected").replace("Input should", "it should")


def _unknown_key(location: Sequence[str], model: type[BaseModel]) -> str:
    """The message of an unknown key, with the nearest known one or all of them."""
    known = _keys(model, location[:-1])
    if not known:
        return "unknown key"
    near = difflib.get_close_matches(location[-1], known, 1)
    return f"unknown key; {f'did you mean {near[0]}?' if near else 'known: ' + ', '.join(known)}"


def _keys(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The keys of the section at a path; empty where sections have several forms."""
    for name in path:
        field = model.model_fields.get(name)
        found = [] if field is None else _models(field.annotation)
        if len(found) != 1:
            return []
        model = found[0]
    return [name for name in model.model_fields if name != "slug"]


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models(part)]
