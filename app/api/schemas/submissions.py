"""Submissions, grades and problems in responses."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import (
    BaseModel,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from app.api.schemas.competitions import FlagOut
from app.domain.medals import Medal


class GraderOut(BaseModel):
    """The metric, versions and environment that made a grade."""

    metric: str
    podium_version: str
    environment: str


class GradeOut(BaseModel):
    """A grade; fields that the run's policy hides are null."""

    score: float | None
    search_score: float | None = Field(
        default=None,
        description="on the search part of the answers; null where there is none",
    )
    public_score: float | None
    medal: Medal | None
    better: int | None
    equal: int | None
    worse: int | None
    teams: int | None
    percentile: float | None
    above_median: bool | None
    decimals: int | None = Field(
        default=None,
        description="the decimals of the human board, to which the score was rounded to find place "
        "and medal; null: none could be found, and the score was compared unrounded",
    )
    borderline: bool | None = Field(
        default=None,
        description="whether the unrounded score would give another medal, `unrounded_medal`; null "
        "in grades made before this field",
    )
    unrounded_medal: Medal | None = None
    improvement: float | None = Field(
        description="on the competition's baseline, as a share of it; positive is better. "
        "null without a baseline, and with a baseline of 0"
    )
    success: bool | None = Field(
        description="whether it improves by more than the baseline's threshold (on a baseline "
        "of 0: at all); null without a baseline"
    )
    competition_version: int
    grader: GraderOut
    graded_at: datetime
    flags: list[FlagOut] = Field(
        description="the competition's known issues, which qualify the medal"
    )


class NoticeOut(BaseModel):
    """An oddity that was accepted."""

    code: str
    message: str


class Sparse(BaseModel):
    """A body without its null fields."""

    @model_serializer(mode="wrap")
    def _without_nulls(self, serialize: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # noqa: ANN202 (a return type would hide the fields from OpenAPI)
        return {name: value for name, value in serialize(self).items() if value is not None}


class ViolationOut(Sparse):
    """A mistake in a file. `row` counts data rows from 1."""

    code: str
    message: str
    column: str | None = None
    row: int | None = None
    examples: list[str] | None = None


class RejectionOut(Sparse):
    """Why a submission was rejected, or why Podium failed: its problem document."""

    type: str
    title: str
    status: int
    detail: str
    instance: str = Field(description="the path of the submission")
    violations: list[ViolationOut] | None = None
    violation_count: int | None = None


class SubmissionOut(BaseModel):
    """A stored submission."""

    id: str
    run: str
    competition: str
    competition_version: int
    state: Literal["queued", "grading", "graded", "rejected", "failed", "received"]
    message: str
    bytes: int
    sha256: str
    received_at: datetime
    settled_at: datetime | None
    run_seconds: FiniteFloat = Field(description="seconds from the start of the run's clock")
    selected: bool
    problem: RejectionOut | None
    warnings: list[NoticeOut]
    grade: GradeOut | None
    regrade: str | None = Field(
        default=None,
        description="the regrade that gave state and grade, for readers of results; left out for "
        "the first grade, which keys of runs and harnesses always see",
        exclude_if=lambda value: value is None,
    )


class VerdictOut(BaseModel):
    """The outcome of a check of a file's form."""

    valid: bool
    violations: list[ViolationOut]
    violation_count: int
    warnings: list[NoticeOut]
