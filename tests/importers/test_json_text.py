"""How JSON that people send is parsed."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from app.importers.json_text import parse_json, without_garbage_collection


def test_nothing_looks_for_garbage_while_a_long_document_is_read() -> None:
    """It took eight times as long, and no other thread of the server went on meanwhile."""
    looked: list[int] = []

    def look(phase: str, info: dict[str, Any]) -> None:
        looked.append(info["generation"])

    gc.callbacks.append(look)
    try:
        document = parse_json(b"[" + b"[]," * 100_000 + b"1]", RuntimeError, pairs=dict)
    finally:
        gc.callbacks.remove(look)

    assert len(document) == 100_001
    assert len(looked) < 20
    assert gc.isenabled()


def test_documents_that_are_read_at_once_leave_the_search_for_garbage_on_behind_them() -> None:
    """It stayed off for good where the first one ended while the second one began."""
    first, second = without_garbage_collection(), without_garbage_collection()
    states = []
    for step in (first.__enter__, second.__enter__):
        step()
        states.append(gc.isenabled())
    for one in (first, second):
        one.__exit__(None, None, None)
        states.append(gc.isenabled())

    assert states == [False, False, False, True]


def test_a_number_of_thousands_of_digits_is_told_to_who_sent_it() -> None:
    with pytest.raises(LookupError, match="it cannot be read: a whole number has too many digits"):
        parse_json(b"1" * 10_000, lambda place, why: LookupError(f"{place}{why}"), pairs=dict)
