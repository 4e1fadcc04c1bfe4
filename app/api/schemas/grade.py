"""The answers of `POST /v1/competitions/{slug}/grade`."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.api.schemas.submissions import SubmissionOut, ViolationOut
from app.domain.medals import Medal


class GradeReport(SubmissionOut):
    """A submission with its grade in brief, under MLE-bench's names where it has some."""

    experiment: str
    seed: int
    submission_exists: bool
    valid_submission: bool | None = Field(description="null until the file is graded or rejected")
    any_medal: bool
    gold_medal: bool
    silver_medal: bool
    bronze_medal: bool
    above_median: bool
    score: float | None
    percentile: float | None
    medal: Medal | None
    violations: list[ViolationOut]
    violation_count: int


class MLEBenchReport(BaseModel):
    """The 16 fields of MLE-bench's `CompetitionReport`."""

    competition_id: str
    score: float | None = Field(description="rounded to five decimal places")
    gold_threshold: float | None
    silver_threshold: float | None
    bronze_threshold: float | None
    median_threshold: float | None
    any_medal: bool
    gold_medal: bool
    silver_medal: bool
    bronze_medal: bool
    above_median: bool
    submission_exists: bool
    valid_submission: bool
    is_lower_better: bool
    created_at: str = Field(description="UTC, ISO 8601 without an offset, as MLE-bench writes it")
    submission_path: str | None
