"""Summaries of scores in responses."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from app.api.schemas.results import BasisOut
from app.services.results.choice.selection import ChoiceCost
from app.services.results.scores.score_summaries import Unplaced
from app.services.results.sensitivity import Variant
from app.statistics.estimates import Interval
from app.statistics.planning import PlannedSize
from app.statistics.scores.score_estimates import ProfilePoint, ScoreEstimate
from app.statistics.selection import ShakeUp

ScaleName = Literal["percentile", "between-sample-and-gold", "performance-gap-closed"]


class ScoresOut(BasisOut):
    """Scores of an experiment's attempts on one scale of all competitions, summarised."""

    scale: ScaleName
    scale_source: str
    percentile_convention: str | None = Field(description="null on the other scales")
    percentile_source: str | None
    target: float
    attempts: int = Field(description="attempts whose scores are summarised")
    unplaced: list[Unplaced] = Field(
        description="valid attempts that have no score on the scale; padding says how they count"
    )
    mean: ScoreEstimate
    median: ScoreEstimate = Field(description="of the means of the competitions")
    iqm: ScoreEstimate = Field(description="mean of the middle half of all attempts")
    optimality_gap: ScoreEstimate = Field(description="mean distance of attempts below the target")
    mean_bootstrap95: Interval | None = Field(
        description="bootstrap over competitions; `mean.competitions95` holds near 0 and 100 too"
    )
    profile: list[ProfilePoint]
    against: BasisOut | None
    probability_better: ScoreEstimate | None = Field(
        description="the chance that an attempt scores higher than one of `against`"
    )


class SelectionOut(BasisOut):
    """The loss by the choice of final submissions, compared with each run's best file."""

    percentile_convention: str
    runs: int
    with_choice: int = Field(description="runs with two or more valid submissions")
    placed_competitions: int = Field(description="competitions that are in the percentiles")
    unplaced: list[str] = Field(
        description="competitions with a submission whose place is not known: not in percentiles"
    )
    choices: list[ChoiceCost]
    shake_up: ShakeUp | None = Field(description="null if no run has two public scores")


class PlanOut(BaseModel):
    """The differences that each number of competitions and seeds can detect."""

    rate: str
    power: float
    between: float = Field(description="spread of the true difference over competitions, points")
    within: float = Field(description="spread of an attempt at its competition, points")
    basis: list[BasisOut] = Field(description="the experiments that the spreads are from")
    sizes: list[PlannedSize]


class SensitivityOut(BasisOut):
    """A rate as asked, and under each other choice of flags, competitions and padding."""

    rate: str
    mean: float
    runs95: Interval | None = Field(description="for these competitions, run again")
    competitions95: Interval | None = Field(description="for competitions like these")
    variants: list[Variant]
