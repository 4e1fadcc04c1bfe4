"""What success rates and trajectories look like over the wire."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.api.schemas.results import FlagOfCompetition, Interval


class SuccessRateOut(BaseModel):
    """A share of runs in percent: the mean over competitions of their shares."""

    mean: float
    sem: float | None = Field(description="from the runs within each competition")
    wilson95: Interval = Field(description="for one competition: Wilson's score interval")
    bootstrap95: Interval = Field(description="for several: cluster bootstrap over competitions")


class ImprovementOut(BaseModel):
    """The average improvement, as a share of the baseline, over runs with a final score."""

    mean: float | None
    sem: float | None
    median: float | None
    runs: int


class AverageOut(BaseModel):
    """The mean over the runs that told it."""

    mean: float | None
    runs: int


class EfficiencyOut(BaseModel):
    """What runs cost, and successes per unit of cost, over the runs that told it."""

    averages: dict[str, AverageOut]
    successes_per: dict[str, float | None]


class SuccessGroupOut(BaseModel):
    """What one group's runs came to."""

    competitions: int
    runs: int
    results: dict[str, int] = Field(
        description="runs by the sort of their final score: graded, reported, imported"
    )
    without_score: int = Field(description="runs without a final score: they count as failures")
    lost: dict[str, int] = Field(description="runs left out, by what took them")
    success_rate: SuccessRateOut | None
    ever_success_rate: SuccessRateOut | None = Field(description="success at any step")
    average_improvement: ImprovementOut
    efficiency: EfficiencyOut


class MissingResultOut(BaseModel):
    """A competition without a counted run (`seed` is null), or a run without a result; and why."""

    competition: str
    seed: int | None
    reason: str


class MissingBaselineOut(BaseModel):
    """Runs that could not be held against anything."""

    competition: str
    runs: int


class UsedBaselineOut(BaseModel):
    """What the runs at a competition were held against."""

    competition: str
    score: float
    source: str
    threshold: float
    higher_is_better: bool


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
    missing: list[MissingResultOut]
    missing_baseline: list[MissingBaselineOut]
    lost: dict[str, int]
    failures: dict[str, int]
    open_runs: int
    uncounted_beside: int = Field(description="scores of another sort than the one that counts")
    baselines_used: list[UsedBaselineOut]
    flags: list[FlagOfCompetition]
    groups: dict[str, SuccessGroupOut]


class OutcomeOut(BaseModel):
    """What one run came to; `run` is null for a result of a grading report."""

    competition: str
    seed: int
    run: str | None
    standing: str
    why: str | None
    failure: str | None
    sort: str | None
    score: float | None
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


class OutcomesOut(BaseModel):
    """What each run of an experiment came to."""

    experiment: str
    threshold: float | None
    items: list[OutcomeOut]


class StepOut(BaseModel):
    """One score of a run."""

    sort: str
    submission: str | None
    reported_score: int | None
    step: int | None
    run_seconds: float | None
    score: float
    best_so_far: float = Field(description="among scores of this kind: graded, or measured")
    improvement: float | None
    success: bool | None
    final: bool


class TrajectoryOut(BaseModel):
    """A run's scores in their order, the graded ones apart from those that were measured."""

    run: str
    experiment: str
    competition: str
    seed: int
    higher_is_better: bool
    baseline: float | None
    threshold: float | None
    sort: str | None = Field(description="of the final score")
    pending: str | None = Field(description="why there is no final score yet")
    final: StepOut | None
    best: StepOut | None
    success: bool | None
    ever_success: bool | None
    first_success: StepOut | None
    items: list[StepOut]
