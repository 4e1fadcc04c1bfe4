"""One result in the form its reader asked for: JSON, CSV, Markdown or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import Request, Response

JSON = "application/json"
CSV = "text/csv"
MARKDOWN = "text/markdown"
PARQUET = "application/vnd.apache.parquet"
MEDIA_TYPES = (JSON, CSV, MARKDOWN, PARQUET)
TEXT = {"schema": {"type": "string"}}
# What an endpoint says in its OpenAPI description beside its JSON.
FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            CSV: TEXT,
            MARKDOWN: TEXT,
            PARQUET: {"schema": {"type": "string", "format": "binary"}},
        }
    }
}
Row = Mapping[str, Any]


def answer(
    request: Request,
    document: Any,
    rows: Sequence[Row],
    markdown: Callable[[], str],
) -> Any:
    """The document as JSON, its rows as CSV or Parquet, or its text as Markdown."""
    wanted = preferred(request.headers.get("Accept", ""))
    if wanted == CSV:
        return Response(as_csv(rows), media_type=CSV)
    if wanted == PARQUET:
        return Response(as_parquet(rows), media_type=PARQUET)
    if wanted == MARKDOWN:
        return Response(markdown(), media_type=MARKDOWN)
    return document


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


def as_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV, unrounded; null is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_parquet(rows: Sequence[Row]) -> bytes:
    """Rows as a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), buffer)
    return buffer.getvalue()


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; bars in cells are kept from breaking it."""
    lines = [header, ["---"] * len(header), *rows]
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells) + "\n"
