"""`?format=csv` on a page gives its table, `?format=json` the table with the page's other facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse

from app.errors import Invalid
from app.reports.document.report import Row
from app.reports.document.tables import to_spreadsheet_csv

FORMAT = "format"
CSV, JSON = "csv", "json"
NOT_KEPT = {"Cache-Control": "no-store"}
Rows = Callable[[], Sequence[Row]]
Facts = Callable[[], Mapping[str, Any]]


async def page_format(format: Annotated[Literal["", "csv", "json"], Query()] = "") -> None:  # noqa: A002
    """Declare the parameter, which `fill_templates.page` reads."""


PAGE_FORMAT = Depends(page_format)


def as_csv(table: Rows | None) -> Response:
    """The table of a page, unrounded. A text that would be a formula begins with `'`.

    Raises:
        Invalid: the page has none.
    """
    if table is None:
        raise Invalid("This page has no table that could be shown as CSV.")
    headers = {"Content-Disposition": 'attachment; filename="podium.csv"', **NOT_KEPT}
    return Response(to_spreadsheet_csv(table()), media_type="text/csv", headers=headers)


def as_json(title: str, api: str, table: Rows | None, facts: Facts | None) -> Response:
    """The facts of a page: its title, the address of the same subject in the API, and `rows`.

    Raises:
        Invalid: the page has neither a table nor facts.
    """
    if table is None and facts is None:
        raise Invalid("This page has no facts that could be shown as JSON.")
    document: dict[str, Any] = {"title": title, "api": api or None}
    if facts is not None:
        document |= facts()
    if table is not None:
        document["rows"] = [dict(row) for row in table()]
    return JSONResponse(jsonable_encoder(document), headers=NOT_KEPT)
