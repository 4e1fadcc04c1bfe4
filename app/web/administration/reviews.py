"""The review queue: runs with signals, and a form to decide about one. For admins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import FOR_ADMINS, Anyone, Ctx, Cursor, Id
from app.domain.states import QueueState, ReviewDecision
from app.review.signals import Level
from app.services.public_log.reasons import LONGEST_REASON
from app.services.reviews import show
from app.services.reviews.decide import decide
from app.services.reviews.show import QueueFilter
from app.web.page_data.formats import PAGE_FORMAT
from app.web.page_data.rows import fields_of, queue_rows, signal_rows
from app.web.rendering.fill_templates import page
from app.web.rendering.forms import ADMIN_FORM, FormCaller, form_token

router = APIRouter(include_in_schema=False, dependencies=[FOR_ADMINS, PAGE_FORMAT])
forms = APIRouter(include_in_schema=False, dependencies=[ADMIN_FORM])
ROWS = 100
DECISION = ("at", "decision", "reason", "superseded_at")


@router.get("/operations/reviews", response_class=HTMLResponse)
def list_reviews(
    request: Request,
    context: Ctx,
    caller: Anyone,
    state: Annotated[QueueState, Query()] = QueueState.OPEN,
    level: Annotated[Level | None, Query()] = None,
    cursor: Cursor = None,
) -> Response:
    """Runs with signals, latest signal first."""
    items, after = show.page(context, QueueFilter(state, level), cursor, ROWS)
    return page(
        request, caller, "reviews.html", title="Reviews", items=items,
        api=f"/v1/reviews?state={state.value}" + (f"&level={level.value}" if level else ""),
        facts=lambda: {"state": state, "level": level, "next_cursor": after},
        table=lambda: queue_rows(items),
        after=after, is_first=cursor is None, state=state.value, level=level and level.value,
        states=[one.value for one in QueueState], levels=[one.value for one in Level],
    )  # fmt: skip


@router.get("/operations/reviews/{run_id}", response_class=HTMLResponse)
def show_review(request: Request, context: Ctx, caller: Anyone, run_id: Id) -> Response:
    """A run's signals with the numbers behind them, the decisions, and the form for the next."""
    found = show.of_run(context, run_id)
    return page(
        request, caller, "review.html", title=f"Review of {run_id}",
        api=f"/v1/runs/{run_id}/review", found=found,
        table=lambda: signal_rows(found.signals),
        facts=lambda: {
            "run": found.run.id, "experiment": found.run.experiment,
            "competition": found.run.competition, "seed": found.run.seed,
            "decisions": fields_of(found.decisions, *DECISION),
        },
        decisions=[one.value for one in ReviewDecision], token=form_token(request),
        longest=LONGEST_REASON,
    )  # fmt: skip


@forms.post("/operations/reviews/{run_id}")
def decide_review(
    context: Ctx,
    caller: FormCaller,
    run_id: Id,
    decision: Annotated[ReviewDecision, Form()],
    reason: Annotated[str, Form(pattern=r"^[^\x00]*$")] = "",
) -> Response:
    """Accept the run, exclude it from rates, or annotate it."""
    decide(context, run_id, decision, reason.strip(), by=caller.key_id)
    return RedirectResponse(f"/operations/reviews/{run_id}", 303)
