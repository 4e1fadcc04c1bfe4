"""Signed receipts: of runs, of experiments and of freezes."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.dependencies import (
    FOR_RESEARCHERS,
    AlsoHarness,
    Ctx,
    Cursor,
    ExperimentPath,
    Id,
    Limit,
)
from app.api.http.next_page import page_in_parts
from app.api.http.problems import responses
from app.api.schemas.receipts import ExperimentReceiptIn, FreezeIn, FreezeOut, ReceiptOut
from app.api.schemas.runs import Page
from app.errors import NotFound
from app.receipts import dsse
from app.receipts.statements import ReceiptKind
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts import freeze as freezes
from app.services.receipts import read
from app.services.receipts.experiment_receipts import issue_for_experiment
from app.services.receipts.freeze import NewFreeze
from app.storage.queries.trust.receipts import ReceiptRecord

AT_ONCE = 20  # read together: the statement of an experiment may have megabytes
router = APIRouter(prefix="/v1", tags=["receipts"])
Kind = Annotated[ReceiptKind | None, Query(description="receipts of this kind only")]
ENVELOPE = "application/vnd.dsse.envelope.v1+json"
ARMORED = "text/plain"
STATES: dict[int | str, dict[str, Any]] = {
    200: {"model": ReceiptOut, "description": "The last receipt states the same facts"},
    **responses(401, 403, 404, 409, 422),
}


def _bytes(media_type: str) -> dict[int | str, dict[str, Any]]:
    found = {"content": {media_type: {"schema": {"type": "string"}}}}
    return {200: {"description": "The bytes", **found}, **responses(401, 404, 422)}


@router.get("/receipts/{receipt_id}.sig", response_class=Response, responses=_bytes(ARMORED))
def show_signature(context: Ctx, caller: AlsoHarness, receipt_id: Id) -> Response:
    """The detached signature of a receipt, for `ssh-keygen -Y verify -n podium-receipt@v1`."""
    return Response(read.find(context, caller, receipt_id).signature, media_type=ARMORED)


@router.get("/receipts/{receipt_id}.dsse", response_class=Response, responses=_bytes(ENVELOPE))
def show_envelope(context: Ctx, caller: AlsoHarness, receipt_id: Id) -> Response:
    """A receipt and its signature in one DSSE envelope."""
    found = read.find(context, caller, receipt_id)
    signature = bytes.fromhex(found.envelope_signature)
    return Response(dsse.envelope(found.data, signature, found.key_id), media_type=ENVELOPE)


@router.get("/receipts/{receipt_id}", response_class=Response, responses=_bytes(dsse.PAYLOAD_TYPE))
def show_receipt(context: Ctx, caller: AlsoHarness, receipt_id: Id) -> Response:
    """A receipt: the bytes of an in-toto Statement that were signed, exactly.

    A run's key reads the receipt of its own run, under the policy `full`; a harness's key reads
    those of its experiment's runs, at competitions without flags.
    """
    return Response(read.find(context, caller, receipt_id).data, media_type=dsse.PAYLOAD_TYPE)


@router.get(
    "/runs/{run_id}/receipts", response_model=Page[ReceiptOut], responses=responses(401, 404, 422)
)
def list_run_receipts(context: Ctx, caller: AlsoHarness, run_id: Id) -> Any:
    """The receipts of a run that this key may read, oldest first. The last one counts.

    There is none before the run is closed.
    """
    found = read.of_run(context, caller, run_id)
    return {"items": [_shown(one) for one in found], "next_cursor": None}


@router.post(
    "/runs/{run_id}/receipts",
    status_code=201,
    response_model=ReceiptOut,
    responses=STATES,
    dependencies=[FOR_RESEARCHERS],
)
def issue_run_receipt(response: Response, context: Ctx, run_id: Id) -> Any:
    """Sign the present state of a closed run. Closing a run does that too."""
    return _issued(response, *issue_for_run(context, run_id))


@router.get(
    "/experiments/{name}/receipts",
    response_model=Page[ReceiptOut],
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_RESEARCHERS],
)
def list_experiment_receipts(
    context: Ctx, name: ExperimentPath, kind: Kind = None, limit: Limit = 100, cursor: Cursor = None
) -> Any:
    """The receipts of an experiment and of its runs, oldest first."""

    def part(after: str | None, count: int) -> tuple[list[dict[str, Any]], str | None]:
        found, following = read.of_experiment(context, name, kind=kind, after=after, limit=count)
        return [_shown(one) for one in found], following

    return page_in_parts(part, cursor, limit, AT_ONCE)


@router.post(
    "/experiments/{name}/receipts",
    status_code=201,
    response_model=ReceiptOut,
    responses=STATES,
    dependencies=[FOR_RESEARCHERS],
)
def issue_experiment_receipt(
    response: Response, context: Ctx, name: ExperimentPath, body: ExperimentReceiptIn
) -> Any:
    """Sign the state of all attempts of an experiment: graded, failed, rejected or missing."""
    return _issued(
        response, *issue_for_experiment(context, name, suite=body.suite, padding=body.padding)
    )


@router.post(
    "/experiments/{name}/freeze",
    status_code=201,
    response_model=ReceiptOut,
    responses=STATES,
    dependencies=[FOR_RESEARCHERS],
)
def freeze_experiment(
    response: Response, context: Ctx, name: ExperimentPath, body: FreezeIn
) -> Any:
    """Sign the plan of an experiment before its first run. It cannot be changed afterwards.

    `GET` and the experiment's receipt list the departures from it.
    """
    new = NewFreeze(
        suite=body.suite,
        competitions=tuple(body.competitions),
        seeds=tuple(body.seeds),
        feedback=body.feedback,
        selection=body.selection,
        padding=body.padding,
        limits=body.limits.model_dump(exclude_none=True),
    )
    return _issued(response, *freezes.freeze(context, name, new))


@router.get(
    "/experiments/{name}/freeze",
    response_model=FreezeOut,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_RESEARCHERS],
)
def show_freeze(context: Ctx, name: ExperimentPath) -> Any:
    """The freeze of an experiment, and what departs from it by now."""
    found = freezes.frozen(context, name)
    if found is None:
        raise NotFound(f"The experiment {name!r} is not frozen.")
    return {"receipt": _shown(found.receipt), "departures": found.departures}


def _issued(response: Response, receipt: ReceiptRecord, is_new: bool) -> dict[str, Any]:
    response.status_code = 201 if is_new else 200
    response.headers["Location"] = f"/v1/receipts/{receipt.id}"
    return _shown(receipt)


def _shown(one: ReceiptRecord) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "experiment": one.experiment,
        "run": one.run_id,
        "submission": one.submission_id,
        "sha256": hashlib.sha256(one.data).hexdigest(),
        "index": one.number,
        "key": one.key_id,
        "supersedes": one.supersedes,
        "created_at": one.created_at,
    }
