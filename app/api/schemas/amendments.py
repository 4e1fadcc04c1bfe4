"""Amendments in requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.requests import Body, Line, Prose, Resources, Seed
from app.domain.states import AmendmentKind


class ExperimentChange(Body):
    """New fields of an experiment, and why; absent fields stay."""

    reason: Line
    agent: Line | None = None
    model: Line | None = None
    notes: Prose | None = None
    resources: Resources | None = Field(default=None, description="only those that change")


class Withdrawal(Body):
    """Which imported results are withdrawn, and why; without seed and competition: all."""

    reason: Line
    competition: (
        Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9-]+$")] | None
    ) = None
    seed: Seed | None = None


class AmendmentOut(BaseModel):
    """The values before an amendment or a withdrawal; `by` is a key's id."""

    id: int
    experiment: str
    kind: AmendmentKind
    before: dict[str, Any]
    after: dict[str, Any] | None
    results: int = Field(description="imported results that were withdrawn")
    reason: str
    by: str | None = Field(description="null for a command on the server")
    at: datetime
