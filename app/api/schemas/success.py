"""Success rates and trajectories in responses."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from app.api.schemas.results import FlagOfCompetition
from app.services.results.missing_results import Missing
from app.services.results.success_rates import UsedBaseline
from app.services.results.trajectory import Step
from app.statistics.efficiency import Efficiency
from app.statistics.success import Improvement, Rate
from app.storage.queries.regrades.in_force import InForce


class SuccessGroupOut(BaseModel):
    """The success rate of one group of runs."""

    competitions: int
    runs: int
    results: dict[str, int] = Field(
        description="runs by the kind of their final score: graded, reported, imported"
    )
    without_score: int = Field(description="runs without a final score: they count as failures")
    lost: dict[str, int] = Field(description="runs left out because they were lost, by reason")
    success_rate: Rate | None
    ever_success_rate: Rate | None = Field(description="success at any step")
    average_improvement: Improvement
    efficiency: Efficiency


class MissingBaselineOut(BaseModel):
    """Runs without a baseline."""

    competition: str
    runs: int


class SuccessRatesOut(BaseModel):
    """An experiment's success rates."""

    experiment: str
    agent: str
    model: str
    suite: str | None
    threshold: float | None = Field(description="null: each baseline's own")
    padding: str
    baselines: str
    starter: str | None
    exclude_flags: list[str]
    excluded_as: str
    excluded: list[str]
    competitions: int
    runs: int
    results: dict[str, int]
    missing: list[Missing]
    missing_baseline: list[MissingBaselineOut]
    lost: dict[str, int]
    failures: dict[str, int]
    open_runs: int
    uncounted_beside: int = Field(description="scores of another kind than the one that counts")
    baselines_used: list[UsedBaseline]
    flags: list[FlagOfCompetition]
    regrades: list[InForce] = Field(
        default=[],
        description="the regrades on which grades rest; elsewhere the first grades count",
    )
    archived_competitions: list[str] = Field(
        default=[], description="competitions that are left out because they are archived"
    )
    groups: dict[str, SuccessGroupOut]


class OutcomeOut(BaseModel):
    """One run's outcome; `run` is null for a result of a grading report."""

    competition: str
    seed: int
    run: str | None
    standing: str
    why: str | None
    failure: str | None
    sort: str | None
    score: float | None
    medal: str | None
    above_median: bool | None
    better: int | None = Field(description="how many human teams are better")
    best_score: float | None
    scores: int
    uncounted_beside: int
    baseline: float | None
    threshold: float | None
    improvement: float | None
    success: bool | None
    best_improvement: float | None
    ever_success: bool | None
    prompt_tokens: float | None
    completion_tokens: float | None
    tokens: float | None
    steps: float | None
    seconds: float | None
    cost_usd: float | None
    created_at: datetime | None
    started_at: datetime | None = Field(description="when the run's clock started")
    closed_at: datetime | None


class OutcomesOut(BaseModel):
    """The outcomes of an experiment's runs."""

    experiment: str
    threshold: float | None
    items: list[OutcomeOut]


class TrajectoryOut(BaseModel):
    """A run's scores in order, graded ones apart from reported ones."""

    run: str
    experiment: str
    competition: str
    seed: int
    created_at: datetime
    started_at: datetime | None = Field(description="`run_seconds` count from here")
    higher_is_better: bool
    baseline: float | None
    threshold: float | None
    sort: str | None = Field(description="the kind of the final score")
    pending: str | None = Field(description="why there is no final score yet")
    final: Step | None
    best: Step | None
    success: bool | None
    ever_success: bool | None
    first_success: Step | None
    items: list[Step]
