"""Experiments, runs and pages of lists in responses."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from app.api.schemas.requests import Resources, RunLimits, RunUsage
from app.domain.feedback import Feedback
from app.domain.states import Failure, RunState, SubmissionState


class ArchivalOut(BaseModel):
    """When and why something was archived; `by` is a key's id, null for a command on the server."""

    at: datetime
    reason: str
    by: str | None


class ExperimentOut(BaseModel):
    """An experiment."""

    name: str
    agent: str
    model: str
    notes: str
    resources: Resources | None
    created_at: datetime
    archived: ArchivalOut | None


class RunOut(BaseModel):
    """A run."""

    id: str
    experiment: str
    competition: str
    competition_version: int
    seed: int
    feedback: Feedback
    limits: RunLimits
    state: RunState
    usage: RunUsage | None
    failure: Failure | None
    selected: str | None = Field(description="the submission selected as final")
    final: Literal["selected", "last"] = Field(
        description="whether the selected or the last valid submission is final"
    )
    reported_scores: int | None = Field(
        description="how many scores a harness reported, apart from grades; null for a run's key"
    )
    imported_from: str | None = Field(
        description="the file and the place in it that a run from elsewhere was read from; "
        "its agent's feedback is not known; null for a run's key"
    )
    created_at: datetime
    started_at: datetime | None = Field(
        description="when the run's clock started: at the first request of its key, or by `start`; "
        "its hours and `run_seconds` count from here"
    )
    closed_at: datetime | None
    archived: ArchivalOut | None = Field(description="null unless the run itself is archived")
    submissions: dict[SubmissionState, int] | None = Field(
        description="the number of submissions by state; null for a run's key"
    )


class RunCreated(RunOut):
    """A new run with its key, which only this response shows."""

    key: str


class DisclosureOut(BaseModel):
    """One score, verdict or failure that a run's key or a harness's was shown."""

    at: datetime
    kind: Literal["validation", "search_score", "public_score", "private_score", "failure"] = Field(
        description="`failure`: grading the file failed, by what the metric did with it"
    )
    submission: str | None
    to: Literal["agent", "harness"] = Field(description="whose key saw it: the run's, a harness's")


class DisclosureTotals(BaseModel):
    """Counts of scores, verdicts and failures that were shown."""

    validations: int
    search_scores: int = Field(default=0, description="scores on rows that are there to search on")
    public_scores: int
    private_scores: int
    failures: int = Field(
        default=0, description="files whose grading failed by what the metric did with them"
    )


class ExposureOut(BaseModel):
    """The exposure ledger of a run."""

    policy: Feedback
    disclosed: list[DisclosureOut]
    totals: DisclosureTotals = Field(description="of what the run's own key was shown")
    harness_totals: DisclosureTotals | None = Field(
        description="of what keys of harnesses were shown; null for a run's key"
    )
    next_cursor: str | None = None


Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None
