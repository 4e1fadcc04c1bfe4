"""The public log and the keys: for everybody, without a key. It has digests and no numbers."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi.responses import PlainTextResponse

from app.api.dependencies import FOR_RESEARCHERS, Ctx, Limit
from app.api.http.problems import responses
from app.api.http.query_names import refuse_ignored_parameters
from app.api.schemas.receipts import (
    ConsistencyOut,
    InclusionOut,
    LogEntriesOut,
    LogRecordOut,
    SigningKeyOut,
)
from app.receipts import ed25519
from app.receipts.checkpoints import MOST_ENTRIES, verifier_key
from app.receipts.sshsig import public_line
from app.services.receipts import log_view
from app.storage.queries.trust.log import LogEntryRecord

router = APIRouter(tags=["public log"], dependencies=[Depends(refuse_ignored_parameters)])
Number = Annotated[int, Path(ge=0, le=MOST_ENTRIES)]
Start = Annotated[int, Query(ge=0, le=MOST_ENTRIES, description="the first entry")]
Size = Annotated[
    int | None,
    Query(ge=1, le=MOST_ENTRIES, description="of the log with this many entries; default: now"),
]
ReceiptId = Annotated[
    str | None, Query(max_length=64, pattern=r"^[a-z0-9_]+$", description="a receipt's id")
]
Index = Annotated[int | None, Query(ge=0, le=MOST_ENTRIES, description="the number of an entry")]
From = Annotated[
    int, Query(alias="from", ge=0, le=MOST_ENTRIES, description="entries of the older checkpoint")
]
To = Annotated[
    int | None, Query(ge=1, le=MOST_ENTRIES, description="entries of the newer one; default: now")
]
TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
    **responses(404, 422),
}


@router.get("/.well-known/podium/allowed_signers", response_class=PlainTextResponse, responses=TEXT)
def show_allowed_signers(context: Ctx) -> Response:
    """Every key that signs or signed receipts, with its time, for `ssh-keygen -Y verify -f`."""
    return PlainTextResponse(log_view.allowed(context))


@router.get("/.well-known/podium/revoked_keys", response_class=PlainTextResponse, responses=TEXT)
def show_revoked_keys(context: Ctx) -> Response:
    """The revoked keys, for `ssh-keygen -Y verify -r`. Nothing that they signed counts."""
    return PlainTextResponse(log_view.revoked(context))


@router.get("/v1/signing-keys", response_model=list[SigningKeyOut], responses=responses(422))
def list_signing_keys(context: Ctx) -> Any:
    """The keys of receipts and checkpoints, for OpenSSH, OpenSSL and verifiers of signed notes."""
    return [
        {
            "id": key.id,
            "name": key.name,
            "public_key": public_line(key.public),
            "verifier_key": verifier_key(key.name, key.public),
            "pem": ed25519.pem(key.public),
            "valid_after": key.valid_after,
            "valid_before": key.valid_before,
            "revoked_at": key.revoked_at,
            "reason": key.reason,
        }
        for key in log_view.keys(context)
    ]


@router.get("/v1/log/checkpoint", response_class=PlainTextResponse, responses=TEXT)
def show_checkpoint(context: Ctx, size: Size = None) -> Response:
    """The signed checkpoint of the log (C2SP tlog-checkpoint). Keep it: it shows later changes."""
    return PlainTextResponse(log_view.checkpoint(context, size).note)


@router.get("/v1/log/entries", response_model=LogEntriesOut, responses=responses(422))
def list_entries(context: Ctx, start: Start = 0, limit: Limit = 100) -> Any:
    """Entries of the log: the kind, digest and time of each receipt and act, nothing else."""
    found = log_view.entries(context, start, limit + 1)
    after = found[limit].number if len(found) > limit else None
    return {"items": [_shown(one) for one in found[:limit]], "next_start": after}


@router.get(
    "/v1/log/entries/{number}",
    response_model=LogRecordOut,
    responses=responses(401, 403, 404, 422),
    dependencies=[FOR_RESEARCHERS],
)
def show_entry(context: Ctx, number: Number) -> Any:
    """An entry with the record whose digest it has: an amendment, a change of keys and so on."""
    found = log_view.entry(context, number)
    return {**_shown(found), "record": found.record}


@router.get("/v1/log/proofs/inclusion", response_model=InclusionOut, responses=responses(404, 422))
def prove_inclusion(
    context: Ctx, receipt: ReceiptId = None, index: Index = None, size: Size = None
) -> Any:
    """Prove that the entry of a receipt, or the one with this `index`, is in the log."""
    found = log_view.inclusion(context, receipt=receipt, number=index, size=size)
    return {
        "index": found.entry.number,
        "leaf": found.entry.leaf,
        "proof": found.proof,
        "checkpoint": found.checkpoint.note,
    }


@router.get(
    "/v1/log/proofs/consistency", response_model=ConsistencyOut, responses=responses(404, 422)
)
def prove_consistency(context: Ctx, start: From, to: To = None) -> Any:
    """Prove that the log begins with the entries of an older checkpoint: nothing was withdrawn."""
    found = log_view.consistency(context, start, to)
    return {"from": found.start, "proof": found.proof, "checkpoint": found.checkpoint.note}


def _shown(one: LogEntryRecord) -> dict[str, Any]:
    sha256 = json.loads(one.leaf)["sha256"]
    return {
        "index": one.number, "kind": one.kind, "sha256": sha256, "at": one.at, "leaf": one.leaf,
    }  # fmt: skip
