"""Amend experiments and withdraw imported results; the previous state stays readable."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from app.api.dependencies import (
    FOR_ADMINS,
    FOR_RESEARCHERS,
    Anyone,
    Ctx,
    Cursor,
    ExperimentPath,
    Limit,
)
from app.api.http.next_page import page_in_parts
from app.api.http.problems import responses
from app.api.schemas.amendments import AmendmentOut, ExperimentChange, Withdrawal
from app.api.schemas.runs import Page
from app.services.experiments import amendments
from app.storage.queries.amendments import AmendmentRecord

AT_ONCE = 10  # read together: each may have notes of 40 KB twice, or many withdrawn results
router = APIRouter(prefix="/v1/experiments", tags=["experiments"])
ANSWERS: dict[int | str, dict[str, Any]] = responses(401, 403, 404, 422)


@router.patch("/{name}", response_model=AmendmentOut, responses=ANSWERS, dependencies=[FOR_ADMINS])
def amend_experiment(
    context: Ctx, caller: Anyone, name: ExperimentPath, body: ExperimentChange
) -> Any:
    """Change an experiment's agent, model, notes or resources. The answer is the amendment."""
    changes = body.model_dump(exclude_unset=True, exclude={"reason"})
    given = {key: value for key, value in changes.items() if value is not None}
    return _shown(amendments.amend(context, name, given, reason=body.reason, by=caller.key_id))


@router.post(
    "/{name}/withdraw-imports",
    response_model=AmendmentOut,
    responses=ANSWERS,
    dependencies=[FOR_ADMINS],
)
def withdraw_imports(context: Ctx, caller: Anyone, name: ExperimentPath, body: Withdrawal) -> Any:
    """Withdraw imported results, so that they do not count and can be imported again."""
    return _shown(
        amendments.withdraw_imports(
            context, name, competition=body.competition, seed=body.seed, reason=body.reason,
            by=caller.key_id,
        )
    )  # fmt: skip


@router.get(
    "/{name}/amendments",
    response_model=Page[AmendmentOut],
    responses=ANSWERS,
    dependencies=[FOR_RESEARCHERS],
)
def list_amendments(
    context: Ctx, name: ExperimentPath, limit: Limit = 100, cursor: Cursor = None
) -> Any:
    """The amendments of an experiment and its withdrawn imports, oldest first.

    A page of more than 1.5 MB has fewer than `limit`: `next_cursor` leads to the rest.
    """

    def read(after: str | None, count: int) -> tuple[list[dict[str, Any]], str | None]:
        found, following = amendments.history(context, name, after, count)
        return [_shown(one) for one in found], following

    return page_in_parts(read, cursor, limit, AT_ONCE)


def _shown(one: AmendmentRecord) -> dict[str, Any]:
    document = asdict(one)
    document["by"] = document.pop("amended_by")
    return document
