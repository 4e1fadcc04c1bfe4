"""A report in the media type that the client prefers: JSON, CSV, Markdown or Parquet."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response

from app.reports.report import Report
from app.reports.tables import to_csv, to_parquet

JSON = "application/json"
CSV = "text/csv"
MARKDOWN = "text/markdown"
PARQUET = "application/vnd.apache.parquet"
MEDIA_TYPES = (JSON, CSV, MARKDOWN, PARQUET)
TEXT = {"schema": {"type": "string"}}
# The media types that an endpoint declares in OpenAPI besides JSON.
FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            CSV: TEXT,
            MARKDOWN: TEXT,
            PARQUET: {"schema": {"type": "string", "format": "binary"}},
        }
    }
}


def answer(request: Request, report: Report) -> Any:
    """The document as JSON, its rows as CSV or Parquet, or its Markdown."""
    wanted = preferred(request.headers.get("Accept", ""))
    if wanted == CSV:
        return Response(to_csv(report.rows), media_type=CSV)
    if wanted == PARQUET:
        return Response(to_parquet(report.rows), media_type=PARQUET)
    if wanted == MARKDOWN:
        return Response(report.markdown(), media_type=MARKDOWN)
    return report.document


def preferred(accept: str) -> str:
    """The media type that an Accept header prefers of ours; JSON where it names none of them.

    >>> preferred("text/html, text/csv;q=0.5, text/markdown;q=0.8")
    'text/markdown'
    """
    best, weight = JSON, 0.0
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if name.lower() not in MEDIA_TYPES:
            continue
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        if quality > weight:
            best, weight = name.lower(), quality
    return best
