"""The receipts of an experiment and of its runs, and what departs from its freeze."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor
from app.services.receipts import freeze, read
from app.web.csv_twin import CSV_TWIN
from app.web.experiments import ExperimentPath
from app.web.rendering import page
from app.web.table_rows import fields_of

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, CSV_TWIN])
LISTED = 200
FIELDS = ("id", "kind", "experiment", "run_id", "submission_id", "number", "key_id", "supersedes",
          "created_at")  # fmt: skip


@router.get("/experiments/{name}/receipts", response_class=HTMLResponse)
def show_receipts(
    request: Request, context: Ctx, caller: Anyone, name: ExperimentPath, cursor: Cursor = None
) -> Response:
    """Every receipt, oldest first, and the freeze with its departures."""
    found, after = read.of_experiment(context, name, kind=None, after=cursor, limit=LISTED)
    return page(
        request, caller, "receipts.html", title=f"Receipts of {name}", name=name,
        twin=f"/v1/experiments/{quote(name, safe='')}/receipts", found=found, after=after,
        replaced=read.replaced_among(context, found), frozen=freeze.frozen(context, name),
        is_first=cursor is None, table=lambda: fields_of(found, *FIELDS),
    )  # fmt: skip
