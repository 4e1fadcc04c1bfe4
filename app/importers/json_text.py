"""Parse JSON that people send. Errors say where the mistake is, and why."""

from __future__ import annotations

import gc
import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from app.importers.names import GIT_LFS

MOST_NESTED = 100  # deeper documents cannot be written into every answer
MOST_VALUES = 3_000_000  # each takes up to some hundred bytes of memory
LONGEST_SHOWN = 200  # characters of a value that a message or an answer repeats
ErrorAt = Callable[[str, str], Exception]  # the error for a place and a reason
Pairs = list[tuple[str, Any]]


def parse_json(
    data: bytes,
    error_at: ErrorAt,
    *,
    pairs: Callable[[Pairs], dict[str, Any]],
    constant: Callable[[str], Any] | None = None,
) -> Any:
    """Parse the document in `data`; `pairs` makes objects, `constant` handles NaN and Infinity.

    Raises:
        The error of `error_at`: it is not JSON, or not UTF-8, or nested more than MOST_NESTED deep,
            or has more than MOST_VALUES values, or `pairs` or `constant` raised ValueError.
    """
    if data.startswith(GIT_LFS):
        raise error_at("line 1", "this is a Git LFS pointer, not the file: run `git lfs pull`")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise error_at(f"byte {error.start}", "it is not UTF-8") from None
    if data.count(b",") > MOST_VALUES:
        raise error_at("", f"it has more than {MOST_VALUES:,} values")
    too_deep = error_at("", f"it is nested more than {MOST_NESTED} deep")
    try:
        with without_garbage_collection():
            document = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise error_at(place, f"it is not JSON: {error.msg}") from None
    except RecursionError:
        raise too_deep from None
    except ValueError as error:
        is_long = "integer string conversion" in str(error)  # Python's message is for programmers
        why = "a whole number has too many digits" if is_long else error
        raise error_at("", f"it cannot be read: {why}") from None
    if _is_nested_beyond(document, MOST_NESTED):
        raise too_deep
    return document


_parsing = threading.Lock()
_parsed_now: list[None] = []  # has one entry for each document that is being parsed


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Switch off Python's garbage collector within the block, since a new document has no garbage.

    The collector traversed the millions of values repeatedly. That took eight times as long as
    reading them, and blocked all other threads.
    """
    with _parsing:
        _parsed_now.append(None)
        gc.disable()
    try:
        yield
    finally:
        with _parsing:
            _parsed_now.pop()
            if not _parsed_now:
                gc.enable()


def _is_nested_beyond(document: Any, depth: int) -> bool:
    level = [document]
    for _ in range(depth + 1):
        level = [
            each
            for one in level
            if one and isinstance(one, dict | list)
            for each in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def storable(value: Any) -> Any:
    """The value without NaN, infinities, NULs and lone surrogates, which databases reject."""
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [storable(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return value


def shortened(value: Any) -> Any:
    """A value as an answer repeats it: itself if it is short, otherwise the beginning of its text.

    >>> shortened(3), shortened("a" * 300)[-3:]
    (3, '...')
    """
    kept = storable(value)
    text = kept if isinstance(kept, str) else repr(kept)
    return kept if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def quoted(value: Any) -> str:
    r"""A value as a message quotes it: printable, and at most 80 characters.

    >>> print(quoted("a\tb"))
    'a\tb'
    """
    return repr(value)[:80]


def printable(name: str) -> str:
    r"""A key as a place names it: printable, and not much longer than LONGEST_SHOWN characters.

    >>> print(printable("a\tb"))
    a\tb
    """
    short = name[:LONGEST_SHOWN]
    return short if short.isprintable() else short.encode("unicode_escape").decode()
