"""A report in the media type that the client prefers: JSON, CSV, Markdown or Parquet."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from pydantic import TypeAdapter
from pydantic_core import to_json

from app.errors import PodiumError
from app.reports.document.report import Report
from app.reports.document.tables import to_csv, to_parquet

JSON = "application/json"
CSV = "text/csv"
MARKDOWN = "text/markdown"
PARQUET = "application/vnd.apache.parquet"
MEDIA_TYPES = (JSON, CSV, MARKDOWN, PARQUET)
WILDCARDS = {"*/*": JSON, "application/*": JSON, "text/*": CSV}
ITEMS_AT_ONCE = 1000
TEXT = {"schema": {"type": "string"}}
# The media types that an endpoint declares in OpenAPI besides JSON.
NON_JSON_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            CSV: TEXT,
            MARKDOWN: TEXT,
            PARQUET: {"schema": {"type": "string", "format": "binary"}},
        }
    }
}


class NotAcceptable(PodiumError):
    """The answer cannot be given in any form that the Accept header allows."""

    status = 406


def answer(request: Request, report: Report) -> Any:
    """The document as JSON, its rows as CSV or Parquet, or its Markdown."""
    wanted = preferred(request.headers.get("Accept", ""))
    if wanted == CSV:
        return Response(to_csv(report.chosen_rows()), media_type=CSV)
    if wanted == PARQUET:
        return Response(to_parquet(report.chosen_rows()), media_type=PARQUET)
    if wanted == MARKDOWN:
        return Response(report.markdown(), media_type=MARKDOWN)
    return report.whole_document()


def answer_in_parts(request: Request, report: Report, items: TypeAdapter[list[Any]]) -> Any:
    """As `answer`, for a document whose last part is many `items`.

    A thousand items are validated and written at a time, because 40,000 models take 120 MB.
    """
    document = answer(request, report)
    if isinstance(document, Response):
        return document
    found = document["items"]
    head = to_json({name: value for name, value in document.items() if name != "items"})
    parts = (
        items.dump_json(items.validate_python(found[at : at + ITEMS_AT_ONCE]))[1:-1]
        for at in range(0, len(found), ITEMS_AT_ONCE)
    )
    return Response(head[:-1] + b',"items":[' + b",".join(parts) + b"]}", media_type=JSON)


def preferred(accept: str) -> str:
    """The media type among `MEDIA_TYPES` that an Accept header prefers; JSON without a header.

    >>> preferred("text/html, text/csv;q=0.5, text/markdown;q=0.8"), preferred("*/*")
    ('text/markdown', 'application/json')

    Raises:
        NotAcceptable: the header allows none of them.
    """
    best, weight = "", 0.0
    for part in accept.split(",") if accept.strip() else ("*/*",):
        name, *parameters = (piece.strip() for piece in part.lower().split(";"))
        media_type = WILDCARDS.get(name, name)
        quality = _quality(parameters)
        if media_type in MEDIA_TYPES and quality > weight:
            best, weight = media_type, quality
    if not best:
        raise NotAcceptable(
            f"This address does not answer as {accept[:100]!r}, but as {', '.join(MEDIA_TYPES)}."
        )
    return best


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0
