"""Results in responses."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from app.api.schemas.receipts import Departure
from app.api.schemas.runs import DisclosureTotals
from app.services.results.choice.histories import MissingResult
from app.services.results.competition_results import CompetitionResult
from app.services.results.noise.experiment_noise import RateNoise
from app.statistics.chosen_by_public import ChosenAtK
from app.statistics.comparison import SignTest
from app.statistics.estimates import Estimate, Interval
from app.statistics.medals_over_time import Point
from app.statistics.pass_at_k import PassAtK
from app.statistics.selection import Regret
from app.statistics.simultaneous import Pair, Ranked
from app.storage.queries.regrades.in_force import InForce


class GroupOut(BaseModel):
    """The rates over one group of competitions."""

    competitions: int
    seeds: int
    missing: int = Field(description="attempts of the group without a result")
    without_results: int = Field(description="competitions of the group without any result")
    any_medal: Estimate
    gold: Estimate
    silver: Estimate
    bronze: Estimate
    above_median: Estimate
    valid_submission: Estimate
    made_submission: Estimate


class ExposureOfAll(BaseModel):
    """The exposure of all runs; `unknown` counts imported results."""

    policies: dict[str, int]
    totals: DisclosureTotals
    harness_totals: DisclosureTotals = Field(description="what keys of harnesses were shown")
    unknown: int


class FlagOfCompetition(BaseModel):
    """A known issue of a competition that the numbers include."""

    competition: str
    code: str
    note: str


class FreezeOfResults(BaseModel):
    """The receipt of an experiment's freeze, and what departs from the plan by now."""

    receipt: str
    departures: list[Departure]


class ExcludedRun(BaseModel):
    """A run that a review excludes."""

    competition: str
    seed: int


class BasisOut(BaseModel):
    """The attempts, flags and exposure behind the numbers."""

    experiment: str
    agent: str
    model: str
    suite: str | None
    padding: str
    exclude_flags: list[str]
    excluded_as: str
    excluded: list[str]
    archived: bool = Field(description="whether archived runs and competitions count too")
    as_of: datetime | None = Field(
        default=None, description="the time for which was asked; null for now"
    )
    regrades: list[InForce] = Field(
        default=[],
        description="the regrades on which grades rest; elsewhere the first grades count",
    )
    reviews: str = Field(default="apply", description="apply or ignore: see `excluded_runs`")
    excluded_runs: list[ExcludedRun] = Field(
        default=[], description="runs that reviews exclude; with reviews=apply none counts"
    )
    with_excluded: dict[str, float] | None = Field(
        default=None, description="the mean of each rate, in percent, if these runs counted"
    )
    seeds: int
    seed_numbers: list[int]
    competitions: int
    missing: list[MissingResult]
    outside_suite: int = Field(
        description="results at competitions that are not asked for: they do not count"
    )
    open_runs: int
    imported: int
    withdrawn: int = Field(description="imported results that an admin withdrew; none counts")
    freeze: FreezeOfResults | None = Field(
        default=None,
        description="the plan that was signed before the first run; left out if there is none",
        exclude_if=lambda value: value is None,
    )
    failures: dict[str, int]
    exposure: ExposureOfAll
    flags: list[FlagOfCompetition]
    archived_competitions: list[str] = Field(
        default=[],
        description="competitions of the suite, or with results of the experiment, that are left "
        "out because they are archived; empty with archived=true",
    )


class MedalRatesOut(BasisOut):
    """The medal rates of an experiment."""

    groups: dict[str, GroupOut]
    noise: list[RateNoise] | None = Field(
        default=None,
        description="medals nearer to their line than the noise of their test rows, as far as that "
        "noise was asked for; empty if it never was, null on a board",
    )


class AbsentOut(BaseModel):
    """An experiment that could not be counted, and why."""

    experiment: str
    reason: str


class BoardOut(BaseModel):
    """The medal rates of experiments over the same competitions, best first."""

    competitions: list[str]
    items: list[MedalRatesOut]
    absent: list[AbsentOut]
    total: int = Field(description="experiments on all pages")
    next_cursor: str | None


class PassAtKOut(BasisOut):
    """pass@k of an experiment."""

    rate: str
    pass_at_k: list[PassAtK]
    chosen_by_public: list[ChosenAtK] = Field(
        description="what the choice by public score gets from k attempts, beside pass@k, over the "
        "competitions with public scores; empty if there is none"
    )
    without_public_scores: list[str] = Field(
        description="competitions with a valid attempt without public score: not in "
        "chosen_by_public"
    )


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
    ci95: Interval | None = Field(description="Student's t over competitions")
    bootstrap95: Interval | None
    runs95: Interval | None = Field(description="for these competitions, run again")
    competitions95: Interval | None = Field(
        description="for competitions like these: the same as ci95"
    )
    p: float | None = Field(description="two-sided paired t test")
    sign_test: SignTest
    detectable: float | None = Field(
        description="smallest true difference that this test at 5 % detects with a power of 80 %; "
        "none can be detected where it is more than 100 points"
    )


class SimultaneousOut(BaseModel):
    """All paired differences of several experiments."""

    basis: list[BasisOut]
    suite: str | None
    rate: str
    competitions: int
    critical: float | None = Field(description="critical value of |t| for all pairs together")
    experiments: list[Ranked]
    pairs: list[Pair]


class CurvesOut(BasisOut):
    """Medals over time under each way to choose the final submission."""

    axis: str
    runs: int
    left_out: int = Field(description="runs that did not report this usage")
    points: dict[str, list[Point]]
    regret: dict[str, Regret]


class CompetitionResultsOut(BaseModel):
    """All attempts at a competition, by experiment and seed."""

    competition: str
    complexity: str | None
    flags: list[FlagOfCompetition]
    percentile_convention: str
    percentile_source: str
    items: list[CompetitionResult]
