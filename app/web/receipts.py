"""The receipts of an experiment and of its runs, and the departures from its freeze."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor, ExperimentPath
from app.reports.document.report import NamedRows
from app.services.experiments.archiving import archived_of_experiments
from app.services.receipts import freeze, read
from app.web.page_data.facts import archived_facts
from app.web.page_data.formats import PAGE_FORMAT
from app.web.page_data.rows import fields_of
from app.web.rendering.fill_templates import page

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, PAGE_FORMAT])
LISTED = 200
FIELDS = ("id", "kind", "experiment", "run_id", "submission_id", "number", "key_id", "supersedes",
          "created_at")  # fmt: skip


@router.get("/experiments/{name}/receipts", response_class=HTMLResponse)
def show_receipts(
    request: Request, context: Ctx, caller: Anyone, name: ExperimentPath, cursor: Cursor = None
) -> Response:
    """Every receipt, oldest first, and the freeze with its departures."""
    found, after = read.of_experiment(context, name, kind=None, after=cursor, limit=LISTED)
    replaced, frozen = read.replaced_among(context, found), freeze.frozen(context, name)
    archived = archived_of_experiments(context, [name])
    return page(
        request, caller, "receipts.html", title=f"Receipts of {name}", name=name,
        api=f"/v1/experiments/{quote(name, safe='')}/receipts", found=found, after=after,
        archived=archived, replaced=replaced, frozen=frozen,
        is_first=cursor is None,
        table=lambda: NamedRows(
            (*FIELDS, "replaced"),
            [{**row, "replaced": row["id"] in replaced} for row in fields_of(found, *FIELDS)],
        ),
        facts=lambda: {
            "experiment": name, "archived": archived_facts(archived),
            "next_cursor": after, "frozen": frozen and {
                "at": frozen.receipt.created_at, "receipt": frozen.receipt.id,
                "departures": frozen.departures,
            },
        },
    )  # fmt: skip
