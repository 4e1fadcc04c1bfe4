"""Summaries of scores in responses."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.api.schemas.results import BasisOut
from app.services.results.choice.selection import ChoiceCost
from app.services.results.score_summaries import Unplaced
from app.services.results.sensitivity import Variant
from app.statistics.estimates import Interval
from app.statistics.planning import PlannedSize
from app.statistics.score_summaries import ProfilePoint, ScoreEstimate
from app.statistics.selection import ShakeUp


class ScoresOut(BasisOut):
    """Percentiles of an experiment's attempts among the human teams, summarised."""

    percentile_convention: str
    percentile_source: str
    target: float
    attempts: int = Field(description="attempts whose percentiles are summarised")
    unplaced: list[Unplaced] = Field(
        description="valid attempts whose place is not known; padding says how they count"
    )
    mean: ScoreEstimate
    median: ScoreEstimate = Field(description="of the means of the competitions")
    iqm: ScoreEstimate = Field(description="mean of the middle half of all attempts")
    optimality_gap: ScoreEstimate = Field(description="mean of what attempts lack to the target")
    mean_bootstrap95: Interval | None = Field(description="for competitions like these")
    profile: list[ProfilePoint]
    against: BasisOut | None
    probability_better: ScoreEstimate | None = Field(
        description="the chance that an attempt scores higher than one of `against`"
    )


class SelectionOut(BasisOut):
    """What the choice of final submissions cost, against each run's best file."""

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
    competitions95: Interval | None
    variants: list[Variant]
