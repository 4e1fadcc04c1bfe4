"""Runs: one agent at one competition with one seed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic_core import to_json

from app.api import serializers
from app.api.dependencies import (
    FOR_HARNESSES,
    FOR_RESEARCHERS,
    AlsoHarness,
    Anyone,
    Archived,
    Ctx,
    Cursor,
    Id,
    Limit,
    OptionalLimit,
)
from app.api.http.problems import responses
from app.api.http.threads import read_history
from app.api.schemas.requests import RunChange, RunIn
from app.api.schemas.runs import ExposureOut, Page, RunCreated, RunOut
from app.domain.states import RunState
from app.services.auth import Caller
from app.services.experiments import disclosures, reported_scores, runs
from app.services.experiments.create_run import NewRun, create_as, experiment_of
from app.services.experiments.disclosures import Ledger
from app.services.experiments.reported_scores import ExternalInfo
from app.services.runtime.context import Context
from app.storage.database.records import HARNESS, DisclosureRecord

router = APIRouter(prefix="/v1/runs", tags=["runs"])
Filter = Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")]


@router.post(
    "",
    status_code=201,
    response_model=RunCreated,
    responses=responses(401, 403, 404, 409, 422),
    dependencies=[FOR_HARNESSES],
)
def create_run(context: Ctx, caller: AlsoHarness, body: RunIn) -> Any:
    """Create a run on the competition's current version; only this answer shows its key.

    Its hours count from the first request of this key, or from `POST /v1/runs/{id}/start`.
    A harness's key makes runs of its experiment, of every policy but `full`.
    """
    run, key = create_as(
        context,
        caller,
        NewRun(
            experiment=experiment_of(caller, body.experiment),
            competition=body.competition,
            seed=body.seed,
            feedback=body.feedback,
            limits=body.limits.model_dump(exclude_none=True),
        ),
    )
    return {**serializers.run(context, run, ExternalInfo(0, None, None, {})), "key": key}


@router.get("", response_model=Page[RunOut], responses=responses(401, 403, 422))
def list_runs(
    context: Ctx,
    caller: Anyone,
    experiment: Filter = None,
    competition: Filter = None,
    state: Annotated[RunState | None, Query(description="open or closed runs only")] = None,
    archived: Archived = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Runs, oldest first; a run's key sees only its own."""
    found, after = runs.page(
        context,
        caller,
        experiment=experiment,
        competition=competition,
        state=state,
        archived=archived,
        after=cursor,
        limit=limit,
    )
    info = reported_scores.external_info(context, caller, [one.id for one in found])
    items = [serializers.run(context, one, info[one.id]) for one in found]
    return {"items": items, "next_cursor": after}


@router.get("/{run_id}", response_model=RunOut, responses=responses(401, 404, 422))
def show_run(context: Ctx, caller: AlsoHarness, run_id: Id) -> Any:
    """One run."""
    run = runs.find(context, caller, run_id)
    return serializers.run(
        context, run, reported_scores.external_info(context, caller, [run_id])[run_id]
    )


@router.post("/{run_id}/start", response_model=RunOut, responses=responses(401, 403, 404, 409, 422))
def start_run(context: Ctx, caller: Anyone, run_id: Id) -> Any:
    """Start the clock of a run, for researchers and for the run's own key.

    Without this call the first request of the run's key starts it, or the first submission that a
    researcher sends for it. A second call changes nothing.
    """
    run = runs.start(context, caller, run_id)
    return serializers.run(
        context, run, reported_scores.external_info(context, caller, [run_id])[run_id]
    )


@router.patch(
    "/{run_id}",
    response_model=RunOut,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_RESEARCHERS],
)
def change_run(context: Ctx, caller: Anyone, run_id: Id, body: RunChange) -> Any:
    """Close a run, or record its usage and the reason of its failure."""
    changed = runs.change(
        context,
        run_id,
        close=body.state is not None,
        usage=None if body.usage is None else body.usage.model_dump(exclude_none=True),
        failure=None if body.failure is None else body.failure.value,
    )
    return serializers.run(
        context, changed, reported_scores.external_info(context, caller, [run_id])[run_id]
    )


@router.get(
    "/{run_id}/exposure",
    response_model=ExposureOut,
    response_model_exclude_unset=True,
    responses=responses(400, 401, 403, 404, 422),
)
def show_exposure(
    context: Ctx,
    caller: Anyone,
    run_id: Id,
    limit: OptionalLimit = None,
    cursor: Cursor = None,
) -> Any:
    """The exposure ledger: scores, verdicts and failures that the run's key and harnesses saw.

    A run's key sees the part about itself.

    With a `limit` it comes in pages; without one, all of it. The totals are always of all.
    """
    found = disclosures.ledger(context, caller, run_id, after=cursor, limit=limit)
    if limit is None and found.next_cursor is not None:
        return StreamingResponse(_whole(context, caller, found), media_type="application/json")
    return {
        **_totals(found),
        "disclosed": _entries(found.disclosed),
        **({} if limit is None else {"next_cursor": found.next_cursor}),
    }


async def _whole(context: Context, caller: Caller, found: Ledger) -> AsyncIterator[bytes]:
    """A long ledger as JSON, page by page, so that it takes little memory and delays nobody."""

    def page(after: int) -> tuple[bytes, int]:
        entries = disclosures.entries_after(context, caller, found, after)
        last = entries[-1].id if entries else found.last
        return to_json(_entries(entries))[1:-1], last

    begin = after = found.disclosed[0].id - 1
    yield to_json(_totals(found))[:-1] + b',"disclosed":['
    while after < found.last:
        items, last = await read_history(page, after)
        yield (b"," if after > begin and items else b"") + items
        after = last
    yield b"]}"


def _totals(found: Ledger) -> dict[str, Any]:
    return {
        "policy": found.run.feedback,
        "totals": serializers.exposure_totals(found.totals),
        "harness_totals": found.harness_totals
        and serializers.exposure_totals(found.harness_totals),
    }


def _entries(found: Sequence[DisclosureRecord]) -> list[dict[str, Any]]:
    return [
        {
            "at": one.at,
            "kind": one.kind.removeprefix(HARNESS),
            "submission": one.submission_id,
            "to": "harness" if one.kind.startswith(HARNESS) else "agent",
        }
        for one in found
    ]
