"""What goes over the wire: response bodies."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from app.api.bodies import Limits, Resources, Usage
from app.domain.feedback import Feedback
from app.domain.medals import Medal
from app.domain.states import CompetitionStatus, Failure, RunState


class ExperimentOut(BaseModel):
    """An experiment."""

    name: str
    agent: str
    model: str
    notes: str
    resources: Resources | None
    created_at: datetime


class RunOut(BaseModel):
    """A run."""

    id: str
    experiment: str
    competition: str
    competition_version: int
    seed: int
    feedback: Feedback
    limits: Limits
    state: RunState
    usage: Usage | None
    failure: Failure | None
    selected: str | None = Field(description="the submission chosen as final")
    final: Literal["selected", "last"] = Field(
        description="whether the chosen or the last valid submission is final"
    )
    reported_scores: int | None = Field(
        description="how many scores a harness reported, apart from grades; null for a run's key"
    )
    imported_from: str | None = Field(
        description="the file and the place in it that a run from elsewhere was read from; "
        "its agent's feedback is not known; null for a run's key"
    )
    created_at: datetime
    closed_at: datetime | None


class RunCreated(RunOut):
    """A new run, with its key: shown this once."""

    key: str


class FileOut(BaseModel):
    """A public file."""

    name: str
    bytes: int
    sha256: str


class MetricOut(BaseModel):
    """How scores are made, and which are better."""

    name: str
    parameters: dict[str, Any]
    higher_is_better: bool


class MeasuredOut(BaseModel):
    """What a harness measures, where nothing is submitted or graded."""

    unit: str
    harness: str = Field(description="what measures it, and how")


class BaselineOut(BaseModel):
    """The score of starter code, and the share by which a success must beat it."""

    score: float
    source: str
    success_threshold: float


class ColumnOut(BaseModel):
    """A prediction column: its kind, and what the kind allows."""

    model_config = ConfigDict(extra="allow")

    name: str
    kind: str


class SubmissionForm(BaseModel):
    """What a submission has to look like."""

    id: list[str] = Field(description="none: rows stand in the order of the sample submission")
    columns: list[ColumnOut]
    rows: int | None
    rows_sum_to_one: bool


class MedalsOut(BaseModel):
    """The human board in short; a line is null where it is not known or nobody wins it."""

    rule: str
    teams: int | None
    gold: float | None
    silver: float | None
    bronze: float | None
    median: float | None
    source: str | None
    captured_at: str | None
    complete: bool
    awards_medals: bool


class FlagOut(BaseModel):
    """A known issue."""

    code: str
    note: str


class CompetitionOut(BaseModel):
    """A competition."""

    slug: str
    title: str
    version: int
    content_hash: str
    category: str | None
    complexity: str | None
    metric: MetricOut
    measured: MeasuredOut | None = Field(description="null where submissions are graded")
    submission: SubmissionForm | None = Field(description="null where the metric is measured")
    medals: MedalsOut | None = Field(description="null for a run unless its policy is `full`")
    baseline: BaselineOut | None = Field(
        description="null without one, and for a run unless its policy is `full`"
    )
    flags: list[FlagOut]
    suites: list[str]
    tags: list[str]
    files: list[FileOut]
    status: CompetitionStatus


class Finding(BaseModel):
    """An oddity of a leaderboard, found at import."""

    code: str
    severity: str
    message: str


class CompetitionImported(CompetitionOut):
    """A competition as imported, with what the leaderboard's lint says."""

    lint: list[Finding]


class LeaderboardOut(MedalsOut):
    """The human leaderboard; `scores` is null where only the lines are known."""

    competition: str
    version: int
    scores: list[float] | None = Field(description="best first, unrounded")


class StandingOut(BaseModel):
    """Where a score would stand."""

    score: float
    medal: Medal | None
    better: int | None
    equal: int | None
    worse: int | None
    teams: int | None
    percentile: float | None
    above_median: bool | None


class GraderOut(BaseModel):
    """What made a grade."""

    metric: str
    podium_version: str
    environment: str


class GradeOut(BaseModel):
    """A grade; what the run's policy hides is null."""

    score: float | None
    public_score: float | None
    medal: Medal | None
    better: int | None
    equal: int | None
    worse: int | None
    teams: int | None
    percentile: float | None
    above_median: bool | None
    improvement: float | None = Field(
        description="on the competition's baseline, as a share of it; positive is better. "
        "null without a baseline, and of a baseline of 0"
    )
    success: bool | None = Field(
        description="whether it improves by more than the baseline's threshold (on a baseline "
        "of 0: at all); null without a baseline"
    )
    competition_version: int
    grader: GraderOut
    graded_at: datetime
    flags: list[FlagOut] = Field(description="the competition's known issues, beside its medal")


class NoticeOut(BaseModel):
    """Something harmless that was accepted."""

    code: str
    message: str


class Sparse(BaseModel):
    """A body that leaves out what it has nothing to say about."""

    @model_serializer(mode="wrap")
    def _without_nulls(self, serialize: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # noqa: ANN202 (a return type would hide the fields from OpenAPI)
        return {name: value for name, value in serialize(self).items() if value is not None}


class ViolationOut(Sparse):
    """One thing wrong with a file. `row` counts data rows from 1."""

    code: str
    message: str
    column: str | None = None
    row: int | None = None
    examples: list[str] | None = None


class RejectionOut(Sparse):
    """Why a submission was refused (or why we failed): the problem document kept with it."""

    type: str
    title: str
    status: int
    detail: str
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
    run_seconds: FiniteFloat
    selected: bool
    problem: RejectionOut | None
    warnings: list[NoticeOut]
    grade: GradeOut | None


class VerdictOut(BaseModel):
    """The outcome of a check of a file's form."""

    valid: bool
    violations: list[ViolationOut]
    violation_count: int
    warnings: list[NoticeOut]


class DisclosureOut(BaseModel):
    """One thing that was told to a run's key."""

    at: datetime
    kind: Literal["validation", "public_score", "private_score"]
    submission: str | None


class DisclosureTotals(BaseModel):
    """How much was told."""

    validations: int
    public_scores: int
    private_scores: int


class ExposureOut(BaseModel):
    """The exposure ledger of a run."""

    policy: Feedback
    disclosed: list[DisclosureOut]
    totals: DisclosureTotals


Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None
