"""The words for resources, by which experiments are grouped."""

from __future__ import annotations

import pytest

from app.services.results.experiment_results import describe


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        (None, "not told"),
        ({}, "not told"),
        ({"hours": 24.0}, "24 hours"),
        ({"hours": 0.5, "cpus": 8}, "0.5 hours, 8 cpus"),
        ({"gpus": 2, "gpu_kind": "A100"}, "2 gpus A100"),
        ({"memory_gb": 64.0}, "64 GB"),
        ({"internet": False}, "no internet"),
        ({"hours": 24, "internet": True}, "24 hours, internet"),
        ({"hours": None, "gpus": None}, "not told"),
    ],
)
def test_resources_are_described_in_a_few_words(
    resources: dict[str, object] | None, words: str
) -> None:
    assert describe(resources) == words
