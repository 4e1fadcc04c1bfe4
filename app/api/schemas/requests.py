"""Request bodies. Unknown fields are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from app.api.http.query_names import PLAIN, is_number
from app.domain.feedback import Feedback
from app.domain.states import LARGEST_SEED, LEAST_SEED, Failure

# No control characters: PostgreSQL cannot store a NUL, and the others only confuse people.
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f/]+$")
]
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Prose = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
Count = Annotated[int, Field(ge=0, le=2**53)]
# Sums over all runs of an experiment stay finite.
Amount = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]
SubmissionId = Annotated[str, StringConstraints(max_length=64, pattern=r"^[a-z0-9_]+$")]


class Body(BaseModel):
    """A request body, which refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _is_plain(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse values that would become another number: "1_0" would be 10, true would be 1."""
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            field = cls.model_fields.get(info.field_name or "")
            if field is not None and is_number(field.annotation):
                words = "expected a number, not true or false" if isinstance(value, bool) else PLAIN
                raise PydanticCustomError("plain_number", words)
        return value


class Resources(Body):
    """The resources of an experiment's runs."""

    hours: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cpus: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    gpus: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    gpu_kind: Line | None = None
    memory_gb: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    internet: bool | None = None
    # It came later than the others: clients that do not know it never see it.
    cost_usd: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="dollars of a run, as stated; left out if nobody stated it",
        exclude_if=lambda value: value is None,
    )


class ExperimentIn(Body):
    """A new experiment."""

    name: Name
    agent: Line
    model: Line
    notes: Prose = ""
    resources: Resources | None = None


class Reason(Body):
    """Why something is archived or restored."""

    reason: Line


class RunLimits(Body):
    """The limits of a run; an absent field means no limit."""

    submissions_per_day: Annotated[int, Field(ge=1, le=10**6)] | None = None
    submissions_total: Annotated[int, Field(ge=1, le=10**6)] | None = None
    hours: (
        Annotated[
            float,
            Field(gt=0, le=10**5, allow_inf_nan=False, description="from the start of the run"),
        ]
        | None
    ) = None


Seed = Annotated[int, Field(strict=True, ge=LEAST_SEED, le=LARGEST_SEED)]


class RunIn(Body):
    """A new run."""

    experiment: Name | None = Field(
        default=None, description="required, except with a harness's key, which has its own"
    )
    competition: Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9-]+$")]
    seed: Seed
    feedback: Feedback = Feedback.VALIDITY
    limits: RunLimits = RunLimits()


class RunUsage(Body):
    """The usage of a run, as its harness measured it."""

    seconds: Amount | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cost_usd: Amount | None = None
    steps: Count | None = None


class RunChange(Body):
    """The end of a run, its usage, and the reason of a failure."""

    state: Literal["closed"] | None = None
    usage: RunUsage | None = None
    failure: Failure | None = None


class Selection(Body):
    """The submission chosen as final."""

    submission: SubmissionId
