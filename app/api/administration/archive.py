"""Archive and restore competitions, experiments and runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from app.api import serializers
from app.api.dependencies import FOR_ADMINS, Anyone, Ctx, ExperimentPath, Id, Slug
from app.api.http.problems import responses
from app.api.schemas.competitions import CompetitionOut
from app.api.schemas.requests import Reason
from app.api.schemas.runs import ExperimentOut, RunOut
from app.domain.states import ArchivalKind
from app.services.auth import Caller
from app.services.competitions import queries
from app.services.experiments import archiving, experiments, reported_scores, runs
from app.services.runtime import archival
from app.services.runtime.context import Context

router = APIRouter(prefix="/v1", tags=["archive"], dependencies=[FOR_ADMINS])
ANSWERS: dict[int | str, dict[str, Any]] = responses(401, 403, 404, 409, 422)


@router.post("/competitions/{slug}/archive", response_model=CompetitionOut, responses=ANSWERS)
def archive_competition(context: Ctx, caller: Anyone, slug: Slug, body: Reason) -> Any:
    """Hide a competition from lists and rates, and refuse the keys of its runs."""
    archiving.archive(context, ArchivalKind.COMPETITION, slug, body.reason, by=caller.key_id)
    return _competition(context, caller, slug)


@router.post("/competitions/{slug}/restore", response_model=CompetitionOut, responses=ANSWERS)
def restore_competition(context: Ctx, caller: Anyone, slug: Slug, body: Reason) -> Any:
    """End the archiving of a competition."""
    archiving.restore(context, ArchivalKind.COMPETITION, slug, body.reason, by=caller.key_id)
    return _competition(context, caller, slug)


@router.post("/experiments/{name}/archive", response_model=ExperimentOut, responses=ANSWERS)
def archive_experiment(context: Ctx, caller: Anyone, name: ExperimentPath, body: Reason) -> Any:
    """Hide an experiment from lists and boards, and refuse the keys of its runs."""
    archiving.archive(context, ArchivalKind.EXPERIMENT, name, body.reason, by=caller.key_id)
    return _experiment(context, name)


@router.post("/experiments/{name}/restore", response_model=ExperimentOut, responses=ANSWERS)
def restore_experiment(context: Ctx, caller: Anyone, name: ExperimentPath, body: Reason) -> Any:
    """End the archiving of an experiment."""
    archiving.restore(context, ArchivalKind.EXPERIMENT, name, body.reason, by=caller.key_id)
    return _experiment(context, name)


@router.post("/runs/{run_id}/archive", response_model=RunOut, responses=ANSWERS)
def archive_run(context: Ctx, caller: Anyone, run_id: Id, body: Reason) -> Any:
    """Hide a run from lists and rates, and refuse its keys."""
    archiving.archive(context, ArchivalKind.RUN, run_id, body.reason, by=caller.key_id)
    return _run(context, caller, run_id)


@router.post("/runs/{run_id}/restore", response_model=RunOut, responses=ANSWERS)
def restore_run(context: Ctx, caller: Anyone, run_id: Id, body: Reason) -> Any:
    """End the archiving of a run."""
    archiving.restore(context, ArchivalKind.RUN, run_id, body.reason, by=caller.key_id)
    return _run(context, caller, run_id)


def _competition(context: Context, caller: Caller, slug: str) -> dict[str, Any]:
    found = archival.archived(context, ArchivalKind.COMPETITION, [slug])
    return serializers.competition(
        context, *queries.find(context, caller, slug), archived=found.get(slug)
    )


def _experiment(context: Context, name: str) -> dict[str, Any]:
    found = archival.archived(context, ArchivalKind.EXPERIMENT, [name])
    return serializers.experiment(experiments.find(context, name), found.get(name))


def _run(context: Context, caller: Caller, run_id: str) -> dict[str, Any]:
    info = reported_scores.external_info(context, caller, [run_id])[run_id]
    return serializers.run(context, runs.find(context, caller, run_id), info)
