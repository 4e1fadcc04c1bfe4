"""Regrades in requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.requests import Body, Line
from app.domain.medals import Medal
from app.domain.states import RegradeState, SubmissionState
from app.storage.queries.regrades.differences import DifferenceCounts


class NewRegrade(Body):
    """How a competition's submissions are to be graded anew."""

    version: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = Field(
        default=None,
        description="number of the version that grades all of them; without it, each is graded "
        "under its run's version, by the present environment",
    )
    submission: Annotated[str, StringConstraints(max_length=64, pattern=r"^[a-z0-9_]+$")] | None = (
        Field(default=None, description="only this one; such a regrade cannot be applied")
    )


class RegradeDecision(Body):
    """Why a regrade is applied or cancelled."""

    reason: Line


class ProgressOut(BaseModel):
    """Submissions by their outcome; `missing` ones were settled after the regrade was ready."""

    total: int
    waiting: int
    graded: int
    rejected: int
    failed: int
    missing: int


class FinalOut(BaseModel):
    """A run's final submission, and the number of teams that are better."""

    submission: str | None
    state: SubmissionState | None
    score: float | None
    medal: Medal | None
    better: int | None


class ChangedFinalOut(BaseModel):
    """A run whose final submission, or its grade, is another after the regrade."""

    run: str
    experiment: str
    seed: int
    before: FinalOut | None
    after: FinalOut


class RatesOut(BaseModel):
    """An experiment's rates in percent over all of its competitions, with padding=available."""

    rates: dict[str, float] | None = Field(description="null if they cannot be counted: `reason`")
    attempts: int
    reason: str | None


class ExperimentChangeOut(BaseModel):
    """An experiment's rates before and after."""

    experiment: str
    before: RatesOut
    after: RatesOut


class SummaryOut(BaseModel):
    """The changes by a regrade; for an applied one, those at its application."""

    submissions: DifferenceCounts
    finals_changed: int
    finals: list[ChangedFinalOut] = Field(description="the first 1,000 of them")
    experiments: list[ExperimentChangeOut]
    experiments_unchanged: int = Field(
        description="experiments with runs there whose rates stay; the first 200 are listed"
    )


class NumbersOut(BaseModel):
    """A grade's numbers; null where the submission is not graded."""

    score: float | None
    public_score: float | None
    better: int | None
    equal: int | None
    worse: int | None
    teams: int | None
    percentile: float | None
    above_median: bool | None
    medal: Medal | None


class ChangeOut(BaseModel):
    """A submission that differs."""

    submission: str
    run: str
    experiment: str
    seed: int
    state_before: SubmissionState
    state_after: SubmissionState
    before: NumbersOut
    after: NumbersOut
    fault: str | None = Field(description="the kind of the fault if it failed")


class RegradeOut(BaseModel):
    """A regrade; `created_by` and `decided_by` are keys' ids, null for a command on the server."""

    id: str
    competition: str
    version: int | None = Field(description="null: each submission under its run's version")
    submission: str | None = Field(description="the only one that is graded; null: all")
    state: RegradeState
    podium_version: str
    environment: str
    progress: ProgressOut
    created_by: str | None
    created_at: datetime
    ready_at: datetime | None
    reason: str | None = Field(description="why it was applied or cancelled")
    decided_by: str | None
    applied_at: datetime | None
    cancelled_at: datetime | None
    superseded_at: datetime | None = Field(description="when a later one was applied")
    replaces: str | None = Field(description="the regrade that was in force before it")


class RegradeDetailsOut(RegradeOut):
    """A regrade with what it changes: null while it is running."""

    difference: SummaryOut | None
    changes: list[ChangeOut] = Field(description="a page of the submissions that differ")
    next_cursor: str | None
