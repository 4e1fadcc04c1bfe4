"""The review queue: runs with signals, and what a person decides about them.

No key of a run or of a harness reads any of it: a signal would tell an agent what is looked for.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from app.api.dependencies import FOR_ADMINS, FOR_RESEARCHERS, Anyone, Ctx, Cursor, Id, Limit, Slug
from app.api.http.problems import responses
from app.api.schemas.reviews import (
    AddedLeakOut,
    KnownLeaksOut,
    NewDecision,
    NewKnownLeak,
    QueuedRunOut,
    ReviewOut,
)
from app.api.schemas.runs import Page
from app.domain.states import QueueState
from app.reports.reviews import queued_document, review_document
from app.review.signals import Level, Signal
from app.services.reviews import decide as deciding
from app.services.reviews import show
from app.services.reviews.show import QueueFilter

router = APIRouter(prefix="/v1", tags=["reviews"])
ANSWERS: dict[int | str, dict[str, Any]] = responses(401, 403, 404, 422)
CHANGES: dict[int | str, dict[str, Any]] = responses(401, 403, 404, 409, 422)
Named = Annotated[str | None, Query(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Digest = Annotated[str, Path(max_length=64, pattern=r"^[0-9a-f]*$")]


@router.get(
    "/reviews",
    response_model=Page[QueuedRunOut],
    responses=responses(401, 403, 422),
    dependencies=[FOR_RESEARCHERS],
)
def list_reviews(
    context: Ctx,
    state: Annotated[
        QueueState, Query(description="open: nobody has decided since the last signal")
    ] = QueueState.OPEN,
    level: Annotated[
        Level | None, Query(description="only runs with a signal of this level")
    ] = None,
    signal: Annotated[
        Signal | None, Query(description="only runs with a signal of this kind")
    ] = None,
    experiment: Named = None,
    competition: Named = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Runs with signals, latest signal first. A signal is a reason to look, not a verdict."""
    wanted = QueueFilter(state, level, signal, experiment, competition)
    items, after = show.page(context, wanted, cursor, limit)
    return {"items": [queued_document(one) for one in items], "next_cursor": after}


@router.get(
    "/runs/{run_id}/review",
    response_model=ReviewOut,
    responses=ANSWERS,
    dependencies=[FOR_RESEARCHERS],
)
def show_review(context: Ctx, run_id: Id) -> Any:
    """A run's signals, and the decisions about it."""
    return review_document(show.of_run(context, run_id))


@router.post(
    "/runs/{run_id}/review",
    response_model=ReviewOut,
    responses=CHANGES,
    dependencies=[FOR_ADMINS],
)
def decide_review(context: Ctx, caller: Anyone, run_id: Id, body: NewDecision) -> Any:
    """Accept a run, exclude it from rates, or annotate it. The reason goes to the public log."""
    deciding.decide(context, run_id, body.decision, body.reason, by=caller.key_id)
    return review_document(show.of_run(context, run_id))


@router.get(
    "/competitions/{slug}/known-leaks",
    response_model=KnownLeaksOut,
    responses=ANSWERS,
    dependencies=[FOR_RESEARCHERS],
)
def list_known_leaks(context: Ctx, slug: Slug) -> Any:
    """The files that are known to hold leaked answers of a competition."""
    return {"items": [asdict(one) for one in show.listed_leaks(context, slug)]}


@router.post(
    "/competitions/{slug}/known-leaks",
    status_code=201,
    response_model=AddedLeakOut,
    responses=CHANGES,
    dependencies=[FOR_ADMINS],
)
def add_known_leak(context: Ctx, caller: Anyone, slug: Slug, body: NewKnownLeak) -> Any:
    """List a file by its SHA-256. Submissions with these bytes get a signal, past ones too."""
    new, count = deciding.add_known_leak(context, slug, body.sha256, body.note, by=caller.key_id)
    return {**asdict(new), "submissions": count}


@router.delete(
    "/competitions/{slug}/known-leaks/{sha256}",
    status_code=204,
    responses=ANSWERS,
    dependencies=[FOR_ADMINS],
)
def remove_known_leak(context: Ctx, caller: Anyone, slug: Slug, sha256: Digest) -> None:
    """Take a file from the list. The signals that it gave stay."""
    deciding.remove_known_leak(context, slug, sha256, by=caller.key_id)
