"""One run, and one submission of it."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Cursor, Id
from app.domain.states import Role, RunState
from app.services.experiments import reported_scores, runs
from app.services.experiments.archiving import archived_of_run
from app.services.experiments.disclosures import disclosures_of
from app.services.experiments.reported_scores import ExternalInfo, Reported, external_info
from app.services.grading import uncertainty
from app.services.operations import faults
from app.services.receipts import read
from app.services.results.noise.experiment_noise import near_lines
from app.services.runtime.context import Context
from app.services.submissions import disclose
from app.services.submissions.disclose import Disclosed
from app.services.submissions.run_submissions import submission_page
from app.web.page_data.facts import (
    archived_facts,
    receipt_facts,
    reported_facts,
    run_facts,
    shown_facts,
    submission_facts,
)
from app.web.page_data.formats import PAGE_FORMAT
from app.web.page_data.paging import Shown
from app.web.page_data.rows import fields_of, submission_rows, violation_rows
from app.web.rendering.fill_templates import page
from app.web.rendering.formats import when
from app.web.rendering.forms import FormCaller, form_token
from app.web.time_axis import time_axis

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS, PAGE_FORMAT])
forms = APIRouter(include_in_schema=False)
SUBMISSIONS = 100
REPORTED = 50  # each may have evidence of 64 KiB, which is read too
FAULTS = 20
FAULT = ("at", "attempt", "kind", "place")


@router.get("/runs/{run_id}", response_class=HTMLResponse)
def show_run(
    request: Request, context: Ctx, caller: Anyone, run_id: Id, cursor: Cursor = None
) -> Response:
    """A run: its submissions over time, and the disclosures of each."""
    run = runs.find(context, caller, run_id)
    listed = submission_page(context, caller, run, cursor, SUBMISSIONS)
    found, final = listed.found, listed.final
    to_agent, to_harness = disclosures_of(
        context, caller, run_id, [one.submission.id for one in found]
    )
    entry = context.catalogue.of_version(run.version_id)
    shown = Shown(listed.before, len(found), listed.total)
    near, receipts = _near_lines(context, found), read.of_run(context, caller, run_id)
    archived = archived_of_run(context, run)
    outside = external_info(context, caller, [run_id])[run_id]
    origin, measured = outside.imported_from, _measured(context, run_id, outside)
    title = f"{run.experiment}, {run.competition}, seed {run.seed}"
    may_change = run.state is RunState.OPEN or any(one.settled_at is None for one in found)
    return page(
        request, caller, "run.html", title=title, api=f"/v1/runs/{run_id}", run=run, found=found,
        to_agent=to_agent, to_harness=to_harness, entry=entry, final=final,
        after=listed.next_cursor, shown=shown, archived=archived, origin=origin,
        is_first=cursor is None,
        axis=time_axis(found, run.limits.get("hours")), token=form_token(request), live=may_change,
        receipts=receipts, near=near, measured=measured, reported=outside.reported,
        facts=lambda: {
            **run_facts(run, entry, to_agent, to_harness, final, origin),
            "archived": archived_facts(archived), "receipts": receipt_facts(receipts),
            "reported": reported_facts(measured),
            **shown_facts(shown, listed.next_cursor),
        },
        table=lambda: submission_rows(found, to_agent, to_harness, final, near),
    )  # fmt: skip


@router.get("/runs/{run_id}/close", response_class=HTMLResponse)
def confirm_close(request: Request, context: Ctx, caller: Anyone, run_id: Id) -> Response:
    """Ask whether the run is to be closed."""
    run = runs.find(context, caller, run_id)
    return page(
        request, caller, "confirm.html", title="Close a run", api=f"/v1/runs/{run_id}",
        done=f"It was closed at {when(run.closed_at)} UTC, so there is nothing to do."
        if run.state is RunState.CLOSED else "",
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
    is_first = found.state == "graded" and found.regrade is None
    noise = uncertainty.find(context, submission_id).kept if is_first else None
    receipts = [
        one for one in read.of_run(context, caller, found.run.id)
        if one.submission_id == submission_id
    ]  # fmt: skip
    near = _near_lines(context, [found])
    archived = archived_of_run(context, found.run)
    listed_faults = faults.page(context, submission_id, None, FAULTS)[0] if is_admin else []
    return page(
        request, caller, "submission.html", title=f"Submission {submission_id}",
        api=f"/v1/submissions/{submission_id}", one=found, entry=entry, faults=listed_faults,
        notes=faults.notes(listed_faults),
        archived=archived, noise=noise, receipts=receipts,
        near=near, table=lambda: violation_rows(found),
        facts=lambda: {
            **submission_facts(found, noise), "near_line": submission_id in near,
            "receipts": receipt_facts(receipts), "archived": archived_facts(archived),
            "faults": fields_of(listed_faults, *FAULT),
        },
    )  # fmt: skip


def _measured(context: Context, run_id: str, outside: ExternalInfo) -> list[Reported]:
    """The first scores that were reported for a run, with their improvement."""
    return reported_scores.page(context, run_id, None, REPORTED)[0] if outside.reported else []


def _near_lines(context: Context, found: Sequence[Disclosed]) -> frozenset[str]:
    """Which of these are closer to a medal line than their noise."""
    graded = [(one.submission.id, one.grade) for one in found if one.regrade is None]
    return near_lines(context, {each: grade["medal"] for each, grade in graded if grade})
