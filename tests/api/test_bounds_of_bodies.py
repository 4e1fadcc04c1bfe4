"""The largest and the smallest value that each field of a body may have, and the next ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from app.api.schemas.reported_scores import EVIDENCE_BYTES, ReportedScoreIn
from app.api.schemas.requests import (
    ExperimentIn,
    Resources,
    RunIn,
    RunLimits,
    RunUsage,
    Selection,
)
from app.domain.states import LARGEST_SEED, LEAST_SEED

INFINITE = [float("inf"), float("nan")]
MOST = 2**53  # whole numbers up to it are exact
EXPERIMENT = {"name": "n", "agent": "a", "model": "m"}
RUN = {"competition": "c", "seed": 0}
SCORE = {"score": 0.5, "evidence": {"file": "log.txt"}}
ENVELOPE = len(json.dumps({"command": "c", "x": ""}))
LIMITS = ("submissions_per_day", "submissions_total")
Case = tuple[type[BaseModel], dict[str, Any], str, list[Any], list[Any]]
CASES: list[Case] = [
    *((RunLimits, {}, name, [1, 10**6], [0, 10**6 + 1]) for name in LIMITS),
    (RunLimits, {}, "hours", [1e-9, 1e5], [0, 100_000.1, *INFINITE]),
    *((RunUsage, {}, name, [0, 0.5, MOST], [-1e-9, MOST + 2, *INFINITE])
      for name in ("seconds", "cost_usd")),
    *((RunUsage, {}, name, [0, MOST], [-1, 0.5, MOST + 1])
      for name in ("prompt_tokens", "completion_tokens", "steps")),
    *((Resources, {}, name, [0, 1e300], [-1e-9, *INFINITE])
      for name in ("hours", "cpus", "gpus", "memory_gb", "cost_usd")),
    (ExperimentIn, EXPERIMENT, "name", ["n", "n" * 200], ["", "n" * 201, "a/b", "a\nb", "a\x7f"]),
    (ExperimentIn, EXPERIMENT, "agent", ["a/b", "a" * 500], ["", "a" * 501, "a\nb"]),
    (ExperimentIn, EXPERIMENT, "notes", ["", "a\nb", "n" * 10_000], ["n" * 10_001, "a\0b"]),
    (RunIn, RUN, "seed", [LEAST_SEED, LARGEST_SEED], [LEAST_SEED - 1, LARGEST_SEED + 1, "1", True]),
    (RunIn, RUN, "competition", ["c" * 100], ["c" * 101, "", "a_b"]),
    (Selection, {}, "submission", ["s" * 64], ["s" * 65, "", "S"]),
    (ReportedScoreIn, SCORE, "run_seconds", [0, 1e300], [-1e-9, "1", *INFINITE]),
    (ReportedScoreIn, SCORE, "score", [-1e300, 1e300], ["1", True, *INFINITE]),
    (ReportedScoreIn, SCORE, "improvement", [-1e300], ["1", *INFINITE]),
    (ReportedScoreIn, SCORE, "evidence",
     [{"x": "y"}, {"command": "c", "x": "y" * (EVIDENCE_BYTES - ENVELOPE)}],
     [{}, {"command": ""}, {"environment": {}, "x": []}, {"x": float("nan")}, {"x": ["\ud800"]},
      {"x": {"a\0": 1}}, {"command": "c", "x": "y" * (EVIDENCE_BYTES - ENVELOPE + 1)}]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[2]}")
def test_the_bounds_of_a_field(case: Case) -> None:
    model, body, name, accepted, refused = case
    for value in accepted:
        model.model_validate({**body, name: value})
    for value in refused:
        with pytest.raises(ValidationError) as caught:
            model.model_validate({**body, name: value})
        assert {error["loc"][0] for error in caught.value.errors()} == {name}
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({**body, name: accepted[0], "unknown": 1})
