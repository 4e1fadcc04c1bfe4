"""Reviews in requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.requests import Body
from app.domain.states import ReviewDecision
from app.review.signals import Level, Signal
from app.services.public_log.reasons import LONGEST_REASON

ReasonText = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=LONGEST_REASON, pattern=r"^[^\x00]*$"
    ),
]


class NewDecision(Body):
    """A decision about a run."""

    decision: ReviewDecision
    reason: ReasonText = Field(description="why; it goes to the public log with the decision")


class NewKnownLeak(Body):
    """A file known to hold leaked answers."""

    sha256: str = Field(max_length=64, description="of the file's bytes, in hex")
    note: ReasonText = Field(description="where the file is found")


class SignalOut(BaseModel):
    """A signal of a submission: a reason to look, not a verdict."""

    submission: str
    signal: Signal
    level: Level
    other_run: str | None = Field(description="the run that the submission resembles")
    detail: dict[str, Any] = Field(description="the numbers behind the signal")
    at: datetime


class DecisionOut(BaseModel):
    """A decision about a run."""

    decision: ReviewDecision
    reason: str
    decided_by: str | None = Field(description="id of the key; null: a command on the server")
    at: datetime
    superseded_at: datetime | None = Field(description="when the next decision ended it")


class QueuedRunOut(BaseModel):
    """A run of the review queue."""

    run: str
    experiment: str
    competition: str
    seed: int
    level: Level = Field(description="the highest level of its signals")
    decision: ReviewDecision | None = Field(
        description="null: nobody has decided since the last signal"
    )
    decided_at: datetime | None
    signals: list[SignalOut]


class ReviewOut(BaseModel):
    """A run with its signals and the decisions about it, oldest first."""

    run: str
    experiment: str
    competition: str
    seed: int
    signals: list[SignalOut]
    decisions: list[DecisionOut]


class KnownLeakOut(BaseModel):
    """A file known to hold leaked answers."""

    competition: str
    sha256: str
    note: str
    added_by: str | None
    at: datetime


class AddedLeakOut(KnownLeakOut):
    """The file, and how many submissions have these bytes already."""

    submissions: int


class KnownLeaksOut(BaseModel):
    """The files known to hold leaked answers of a competition."""

    items: list[KnownLeakOut]
