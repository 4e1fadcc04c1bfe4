"""Competitions and human leaderboards in responses."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.runs import ArchivalOut
from app.domain.lint import LintFinding
from app.domain.states import CompetitionStatus
from app.importers.folder import PublicFile


class MetricOut(BaseModel):
    """The metric, and its direction."""

    name: str
    parameters: dict[str, Any]
    higher_is_better: bool


class MeasuredOut(BaseModel):
    """The unit and harness of a measured competition."""

    unit: str
    harness: str = Field(description="the program that measures, and how")


class BaselineOut(BaseModel):
    """The score of starter code, and the share by which a success must beat it."""

    score: float
    source: str
    success_threshold: float


class ColumnOut(BaseModel):
    """A prediction column: its kind and the kind's options."""

    model_config = ConfigDict(extra="allow")

    name: str
    kind: str


class SubmissionFormOut(BaseModel):
    """The form of a submission."""

    id: list[str] = Field(description="empty: rows must be in the order of the sample submission")
    columns: list[ColumnOut]
    rows: int | None
    rows_sum_to_one: bool


class MedalsOut(BaseModel):
    """The human leaderboard in short; a line is null if unknown or if nobody wins that medal."""

    rule: str
    teams: int | None
    gold: float | None
    silver: float | None
    bronze: float | None
    median: float | None
    decimals: int | None = Field(
        description="the decimals of the board's scores, to which a score is rounded before it is "
        "compared; null if they cannot be told: then it is compared unrounded"
    )
    source: str | None
    captured_at: str | None
    complete: bool
    awards_medals: bool


class FlagOut(BaseModel):
    """A known issue; a run's key sees codes under the policy `full`, and no notes."""

    code: str
    note: str


class CompetitionOut(BaseModel):
    """A competition."""

    slug: str
    title: str
    version: int
    content_hash: str | None = Field(description="null for a run's key")
    category: str | None
    complexity: str | None
    metric: MetricOut
    measured: MeasuredOut | None = Field(description="null if submissions are graded")
    submission: SubmissionFormOut | None = Field(description="null if the result is measured")
    medals: MedalsOut | None = Field(description="null for a run unless its policy is `full`")
    baseline: BaselineOut | None = Field(
        description="null without one, and for a run unless its policy is `full`"
    )
    flags: list[FlagOut]
    suites: list[str]
    tags: list[str]
    files: list[PublicFile]
    status: CompetitionStatus
    archived: ArchivalOut | None


class CompetitionImported(CompetitionOut):
    """A competition as imported, with the lint of its leaderboard."""

    lint: list[LintFinding]


class LeaderboardOut(MedalsOut):
    """The human leaderboard; `scores` is null if only the medal lines are known."""

    competition: str
    version: int
    scores: list[float] | None = Field(description="best first, unrounded")
