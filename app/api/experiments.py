"""Experiments."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from app.api import serializers
from app.api.dependencies import FOR_RESEARCHERS, Archived, Ctx, Cursor, ExperimentPath, Limit
from app.api.http.next_page import page_in_parts
from app.api.http.problems import responses
from app.api.schemas.requests import ExperimentIn
from app.api.schemas.runs import ExperimentOut, Page
from app.domain.states import ArchivalKind
from app.services.experiments import experiments
from app.services.experiments.experiments import NewExperiment
from app.services.runtime import archival
from app.services.runtime.context import Context
from app.storage.database.records import ExperimentRecord

AT_ONCE = 50  # read together: each may have notes of 40 KB
router = APIRouter(prefix="/v1/experiments", tags=["experiments"], dependencies=[FOR_RESEARCHERS])


@router.post(
    "",
    status_code=201,
    response_model=ExperimentOut,
    responses={
        200: {"model": ExperimentOut, "description": "The same experiment exists already"},
        **responses(401, 403, 409, 422),
    },
)
def create_experiment(response: Response, context: Ctx, body: ExperimentIn) -> Any:
    """Create an experiment: one agent and model under the same resources."""
    record, created = experiments.create(
        context,
        NewExperiment(
            name=body.name,
            agent=body.agent,
            model=body.model,
            notes=body.notes,
            resources=None if body.resources is None else body.resources.model_dump(),
        ),
    )
    response.status_code = 201 if created else 200
    return _shown(context, [record])[0]


@router.get("", response_model=Page[ExperimentOut], responses=responses(401, 403, 422))
def list_experiments(
    context: Ctx, archived: Archived = False, limit: Limit = 100, cursor: Cursor = None
) -> Any:
    """Experiments by name.

    A page of more than 1.5 MB has fewer than `limit`: `next_cursor` leads to the rest.
    """

    def read(after: str | None, count: int) -> tuple[list[ExperimentOut], str | None]:
        found, following = experiments.page(context, after, count, archived=archived)
        return list(map(ExperimentOut.model_validate, _shown(context, found))), following

    return page_in_parts(read, cursor, limit, AT_ONCE)


@router.get("/{name}", response_model=ExperimentOut, responses=responses(401, 403, 404, 422))
def show_experiment(context: Ctx, name: ExperimentPath) -> Any:
    """One experiment."""
    return _shown(context, [experiments.find(context, name)])[0]


def _shown(context: Context, found: list[ExperimentRecord]) -> list[dict[str, Any]]:
    names = [one.name for one in found]
    retired = archival.archived(context, ArchivalKind.EXPERIMENT, names)
    return [serializers.experiment(one, retired.get(one.name)) for one in found]
