"""Documents with a row for each of thousands of runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, TypeAdapter, ValidationError

from app.api.http.negotiation import answer_in_parts
from app.api.http.next_page import SENT_AT_ONCE, json_in_parts
from app.reports.document.page import ReportPage
from app.reports.document.report import Report


class Item(BaseModel):
    seed: int
    score: float | None


class Document(BaseModel):
    experiment: str
    threshold: float | None
    items: list[Item]


def answer_to(accept: str, items: list[dict[str, Any]]) -> Response:
    document = {"experiment": 'a "b"', "threshold": 0.1, "items": items}
    report = Report(document, items, lambda: ReportPage([], []))
    request = Request({"type": "http", "headers": [(b"accept", accept.encode())]})
    answer: Response = answer_in_parts(request, report, TypeAdapter(list[Item]))
    return answer


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500])
def test_a_document_in_parts_is_the_same_as_in_one(count: int) -> None:
    # A whole number is a score too; a model writes it with its decimal point.
    items: list[dict[str, Any]] = [{"seed": n, "score": None if n % 2 else n} for n in range(count)]
    whole = Document(experiment='a "b"', threshold=0.1, items=[Item(**one) for one in items])

    answer = answer_to("application/json", items)

    assert answer.body == whole.model_dump_json().encode()
    assert answer.headers["content-type"] == "application/json"


def test_other_forms_have_the_rows() -> None:
    answer = answer_to("text/csv", [{"seed": 1, "score": 0.5}])

    assert answer.body == b"seed,score\n1,0.5\n"


def test_an_item_that_is_not_as_declared_is_an_error_of_ours() -> None:
    with pytest.raises(ValidationError):
        answer_to("application/json", [{"seed": "x", "score": 0.5}])


def test_short_parts_are_sent_together_and_long_ones_in_pieces() -> None:
    long = bytes(range(256)) * (SENT_AT_ONCE // 100)
    parts = [b"[", *[b"1,"] * SENT_AT_ONCE, memoryview(long), b"2", long[:-1], b"]"]

    answer = json_in_parts(*parts)
    assert isinstance(answer, StreamingResponse)
    sent = asyncio.run(_all_of(answer))

    assert b"".join(sent) == b"".join(parts)
    assert answer.headers["content-length"] == str(sum(map(len, parts)))
    assert max(map(len, sent)) <= SENT_AT_ONCE
    assert len(sent) < 15  # 468 KB; the parts are 65,541


async def _all_of(answer: StreamingResponse) -> list[bytes]:
    return [bytes(piece) async for piece in answer.body_iterator]
