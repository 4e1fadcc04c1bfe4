"""The item table of a suite in responses."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.api.schemas.results import AbsentOut
from app.statistics.item_analysis import Ability, Item


class MissingOfExperiment(BaseModel):
    """An experiment's (competition, seed) without a result, and why."""

    experiment: str
    competition: str
    seed: int
    reason: str


class ItemsOut(BaseModel):
    """A suite's competitions as items of a test."""

    suite: str
    padding: str
    rate: str
    exclude_flags: list[str]
    excluded_as: str
    experiments: list[str]
    items: list[Item]
    missing: list[MissingOfExperiment] = Field(
        description="the results that are missing, by experiment; `padding` says how they count"
    )
    abilities: list[Ability] = Field(description="of the experiments, by the Rasch model")
    dispersion: float = Field(
        description="by how much attempts vary beyond the model; standard errors have its root"
    )
    absent: list[AbsentOut]
    archived_competitions: list[str] = Field(
        default=[], description="competitions of the suite that are left out: they are archived"
    )
