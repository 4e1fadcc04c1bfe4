"""`?format=csv` on a page gives its table as CSV, unrounded."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query

FORMAT = "format"
CSV = "csv"


def page_format(format: Annotated[Literal["", "csv"], Query()] = "") -> None:  # noqa: A002
    """Declare the parameter, which `rendering.page` reads."""


CSV_TWIN = Depends(page_format)
