"""Reported scores in requests and responses."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.schemas.requests import Body, Count, Line, Prose
from app.domain.states import ReportedScoreKind

EVIDENCE_BYTES = 64 * 1024
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Evidence(BaseModel):
    """The origin of the score. Other fields are kept as they are; the total size is bounded."""

    model_config = ConfigDict(extra="allow")

    file: Line | None = Field(default=None, description="the file that was measured or written")
    command: Prose | None = Field(default=None, description="the command that measured it")
    environment: Prose | dict[str, Any] | None = Field(
        default=None, description="an image, or packages with their versions"
    )
    hardware: Prose | dict[str, Any] | None = None

    @model_validator(mode="after")
    def _says_something_that_can_be_kept(self) -> Self:
        content = self.model_dump(exclude_none=True)
        if not any(value not in ("", {}, []) for value in content.values()):
            raise ValueError(
                "evidence is empty: say by what the score can be traced, such as file, command, "
                "environment or hardware"
            )
        try:
            text = json.dumps(content, allow_nan=False)
        except (ValueError, RecursionError):
            raise ValueError("evidence has NaN, an infinity, or is nested too deeply") from None
        if len(text) > EVIDENCE_BYTES:
            raise ValueError(f"evidence is larger than {EVIDENCE_BYTES:,} bytes")
        if not _is_text(content):
            raise ValueError("evidence has a NUL or half a surrogate pair in a text")
        return self


class ReportedScoreIn(Body):
    """A measured score; final by default."""

    score: Number
    evidence: Evidence
    final: bool = Field(
        default=True,
        description="whether this is the run's result; of several final ones the last counts",
    )
    step: Count | None = Field(
        default=None, description="the agent's step after which it was measured"
    )
    run_seconds: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = Field(
        default=None, description="the run's time after which it was measured"
    )
    higher_is_better: bool | None = Field(
        default=None, description="the harness's direction; refused if the competition's differs"
    )
    improvement: Number | None = Field(
        default=None,
        description="the harness's improvement on the baseline; refused if Podium's differs",
    )


class ReportedScoreOut(BaseModel):
    """A reported score: never a grade."""

    id: int
    run: str
    competition: str
    competition_version: int
    state: Literal["reported"]
    sort: ReportedScoreKind = Field(description="sent by a harness, or read from a file of results")
    score: float
    improvement: float | None = Field(
        description="on the competition's baseline, as a share of it; null without one"
    )
    success: bool | None = Field(description="by the baseline's own threshold")
    step: int | None
    run_seconds: float | None
    final: bool
    evidence: dict[str, Any]
    reported_by: str | None = Field(description="the id of the key; null for an import")
    reported_at: datetime


def _is_text(value: Any) -> bool:
    """Whether both databases can store it: no NUL, and valid in UTF-8."""
    if isinstance(value, dict):
        return all(_is_text(key) and _is_text(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(_is_text, value))
    return not isinstance(value, str) or not any(
        char == "\x00" or "\ud800" <= char <= "\udfff" for char in value
    )
