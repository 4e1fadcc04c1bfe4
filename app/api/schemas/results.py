"""What results look like over the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Interval = Annotated[list[float], Field(min_length=2, max_length=2)] | None


class EstimateOut(BaseModel):
    """A mean over seeds, in percent; `sem` and `ci95` are null for one seed."""

    mean: float
    sem: float | None
    ci95: Interval = Field(description="Student's t over seeds")
    bootstrap95: Interval = Field(description="cluster bootstrap over competitions")
    per_seed: list[float]


class GroupOut(BaseModel):
    """The rates over one group of competitions."""

    competitions: int
    seeds: int
    any_medal: EstimateOut
    gold: EstimateOut
    silver: EstimateOut
    bronze: EstimateOut
    above_median: EstimateOut
    valid_submission: EstimateOut
    made_submission: EstimateOut


class MissingOut(BaseModel):
    """A (competition, seed) without a result, and why."""

    competition: str
    seed: int
    reason: str


class ExposureTotals(BaseModel):
    """How much was told to the runs' keys."""

    validations: int
    public_scores: int
    private_scores: int


class ExposureOfAll(BaseModel):
    """What the agents were told, over all runs; `unknown` counts imported results."""

    policies: dict[str, int]
    totals: ExposureTotals
    unknown: int


class FlagOfCompetition(BaseModel):
    """A known issue of a competition that is in the numbers."""

    competition: str
    code: str
    note: str


class BasisOut(BaseModel):
    """What the numbers rest on."""

    experiment: str
    agent: str
    model: str
    suite: str | None
    padding: str
    exclude_flags: list[str]
    excluded_as: str
    excluded: list[str]
    seeds: int
    seed_numbers: list[int]
    competitions: int
    missing: list[MissingOut]
    open_runs: int
    imported: int
    failures: dict[str, int]
    exposure: ExposureOfAll
    flags: list[FlagOfCompetition]


class MedalRatesOut(BasisOut):
    """The medal rates of an experiment."""

    groups: dict[str, GroupOut]


class AbsentOut(BaseModel):
    """An experiment that could not be counted, and why."""

    experiment: str
    reason: str


class BoardOut(BaseModel):
    """The medal rates of all experiments, best first."""

    items: list[MedalRatesOut]
    absent: list[AbsentOut]


class PassOut(BaseModel):
    """pass@k for one k, in percent."""

    k: int
    mean: float
    bootstrap95: Interval


class PassAtKOut(BasisOut):
    """pass@k of an experiment."""

    rate: str
    pass_at_k: list[PassOut]


class SignTestOut(BaseModel):
    """How often each was ahead, and the exact two-sided p of the sign test."""

    a_ahead: int
    b_ahead: int
    tied: int
    p: float


class ComparisonOut(BaseModel):
    """The difference a - b in percentage points, paired over competitions."""

    a: BasisOut
    b: BasisOut
    suite: str | None
    rate: str
    competitions: int
    a_mean: float
    b_mean: float
    difference: float
    sem: float | None
    ci95: Interval = Field(description="Student's t over competitions")
    bootstrap95: Interval
    p: float | None = Field(description="two-sided paired t test")
    sign_test: SignTestOut
    detectable: float | None = Field(
        description="smallest true difference that such a test at 5 % finds with a power of 80 %"
    )


class PointOut(BaseModel):
    """The share of runs, in percent, that hold a medal after so much."""

    at: float
    any_medal: float
    gold: float


class RegretOut(BaseModel):
    """What choosing cost against the oracle, in percent of the runs."""

    choice: float
    oracle: float
    regret: float
    runs_that_lost_a_medal: int


class CurvesOut(BaseModel):
    """Medals over time under each way to choose the final submission."""

    experiment: str
    axis: str
    runs: int
    left_out: int
    points: dict[str, list[PointOut]]
    regret: dict[str, RegretOut]


class ItemOut(BaseModel):
    """A competition as an item of a test."""

    competition: str
    attempts: int
    rate: float
    flips: float
    discrimination: float | None
    verdict: str | None


class ItemsOut(BaseModel):
    """A suite's competitions as items of a test."""

    suite: str
    padding: str
    rate: str
    experiments: list[str]
    items: list[ItemOut]


class ResultOut(BaseModel):
    """One attempt at a competition."""

    model_config = ConfigDict(extra="forbid")

    experiment: str
    agent: str
    model: str
    seed: int
    source: str
    run: str | None
    submission: str | None
    state: str
    made: bool | None
    valid: bool | None
    score: float | None
    medal: str | None
    above_median: bool | None
    better: int | None
    equal: int | None
    worse: int | None
    percentile: float | None
    improvement: float | None = Field(description="on the baseline, as a share of it")
    success: bool | None = Field(description="null without a baseline")
    failure: str | None
    reported_score: float | None = Field(description="measured by a harness, not graded")
    reported_sort: str | None


class CompetitionResultsOut(BaseModel):
    """All attempts at a competition, by experiment and seed."""

    competition: str
    complexity: str | None
    flags: list[FlagOfCompetition]
    percentile_convention: str
    percentile_source: str
    items: list[ResultOut]
