"""The noise of scores in responses."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from app.resampling.uncertainty import MedalChances
from app.services.results.noise.experiment_noise import RateNoise


class NoiseOut(BaseModel):
    """The noise of a score; all null if it was never asked for."""

    standard_error: float | None = Field(
        description="standard deviation of the scores of the resamples"
    )
    low: float | None = Field(description="their 2.5th percentile")
    high: float | None = Field(description="their 97.5th percentile")
    medals: MedalChances | None = Field(description="null without a leaderboard")
    reason: str | None = Field(description="why there is no standard error, if there is none")
    resamples: int | None = Field(description="resamples in which the metric is defined")
    undefined: int | None = Field(description="resamples in which it is not; they count nowhere")
    rows: int | None = Field(description="private test rows; each resample draws as many")
    resampling_seed: int | None
    estimated_at: datetime | None


class UncertaintyOut(NoiseOut):
    """The noise of a submission's score: of the choice of test rows, and of nothing else."""

    submission: str
    score: float
    medal: str | None
    grader: dict[str, str] = Field(description="what estimated it: versions, as a grade names them")


class FinalScoreOut(NoiseOut):
    """A run's final score with its noise."""

    competition: str
    seed: int
    run: str
    submission: str
    score: float
    medal: str | None


class ExperimentNoiseOut(BaseModel):
    """The final scores of an experiment with their noise, as far as it was asked for."""

    experiment: str
    items: list[FinalScoreOut]
    rates: list[RateNoise]
