"""One run, and one submission of it."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor, Id
from app.domain.states import Role, RunState
from app.services.experiments import ledger, runs
from app.services.grading import uncertainty
from app.services.operations import faults
from app.services.receipts import read
from app.services.results.noise.near_lines import near_lines
from app.services.runtime.context import Context
from app.services.submissions import disclose
from app.services.submissions.disclose import Disclosed
from app.web.csv_twin import CSV_TWIN
from app.web.forms import FormCaller, form_token
from app.web.rendering import page
from app.web.table_rows import submission_rows, violation_rows
from app.web.time_axis import time_axis

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, CSV_TWIN])
forms = APIRouter(include_in_schema=False)
SUBMISSIONS = 200
DISCLOSURES = 1000
FAULTS = 20


@router.get("/runs/{run_id}", response_class=HTMLResponse)
def show_run(
    request: Request, context: Ctx, caller: Anyone, run_id: Id, cursor: Cursor = None
) -> Response:
    """A run: its submissions over time, and what its agent was told of each."""
    run = runs.find(context, caller, run_id)
    found, after = disclose.page(context, caller, run, cursor, SUBMISSIONS)
    told = ledger.ledger(context, caller, run_id, after=None, limit=DISCLOSURES)
    entry = context.catalogue.of_version(run.version_id)
    final = run.selected_id or next(
        (one.submission.id for one in reversed(found) if one.state == "graded"), None
    )
    by_submission: dict[str, list[str]] = {}
    for one in told.disclosed:
        if one.submission_id is not None:
            by_submission.setdefault(one.submission_id, []).append(one.kind)
    title = f"{run.experiment}, {run.competition}, seed {run.seed}"
    may_change = run.state is RunState.OPEN or any(one.settled_at is None for one in found)
    return page(
        request, caller, "run.html", title=title, twin=f"/v1/runs/{run_id}", run=run, found=found,
        told=told, by_submission=by_submission, entry=entry, final=final, after=after,
        axis=time_axis(found, run.limits.get("hours")), token=form_token(request), live=may_change,
        receipts=read.of_run(context, caller, run_id), near=_near_lines(context, found),
        table=lambda: submission_rows(found, by_submission, final),
    )  # fmt: skip


@router.get("/runs/{run_id}/close", response_class=HTMLResponse)
def confirm_close(request: Request, context: Ctx, caller: Anyone, run_id: Id) -> Response:
    """Ask whether the run is to be closed."""
    run = runs.find(context, caller, run_id)
    return page(
        request, caller, "confirm.html", title="Close a run", twin=f"/v1/runs/{run_id}",
        action=f"/runs/{run_id}/close", back=f"/runs/{run_id}", button="Close the run",
        about=f"{run.experiment}, {run.competition}, seed {run.seed}",
        effect="It accepts no more submissions, and its final submission stands. This cannot be "
        "undone.",
        token=form_token(request),
    )  # fmt: skip


@forms.post("/runs/{run_id}/close")
def close_run(context: Ctx, caller: FormCaller, run_id: Id) -> Response:
    """Close the run."""
    runs.find(context, caller, run_id)
    runs.change(context, run_id, close=True, usage=None, failure=None)
    return RedirectResponse(f"/runs/{run_id}", 303)


@router.get("/submissions/{submission_id}", response_class=HTMLResponse)
def show_submission(request: Request, context: Ctx, caller: Anyone, submission_id: Id) -> Response:
    """A submission: its grade and place, or every violation with its rows."""
    found = disclose.show(context, caller, submission_id)
    entry = context.catalogue.of_version(found.run.version_id)
    is_admin = caller.role is Role.ADMIN
    noise = uncertainty.find(context, submission_id).kept if found.state == "graded" else None
    receipts = [
        one for one in read.of_run(context, caller, found.run.id)
        if one.submission_id == submission_id
    ]  # fmt: skip
    failures = faults.page(context, submission_id, None, FAULTS)[0] if is_admin else []
    return page(
        request, caller, "submission.html", title=f"Submission {submission_id}",
        twin=f"/v1/submissions/{submission_id}", one=found, entry=entry, faults=failures,
        noise=noise, receipts=receipts,
        near=_near_lines(context, [found]), table=lambda: violation_rows(found),
    )  # fmt: skip


def _near_lines(context: Context, found: Sequence[Disclosed]) -> frozenset[str]:
    """Which of these are nearer to a medal line than their noise."""
    graded = [(one.submission.id, one.grade) for one in found]
    return near_lines(context, {each: grade["medal"] for each, grade in graded if grade})
