"""The word of a receipt for how a run ended."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.states import RunState, SubmissionState
from app.services.public_log.run_receipts import outcome_of
from tests.services.results.test_run_outcomes import run

OPEN = {"state": RunState.OPEN}
FAILED = {"final": "sub_1", "final_state": SubmissionState.FAILED}
REJECTED = {"final": "sub_1", "final_state": SubmissionState.REJECTED}
GRADED = {"final": "sub_1", "final_state": SubmissionState.GRADED}


@pytest.mark.parametrize(
    ("over", "outcome"),
    [
        ({}, "missing"),
        ({"reported": 2}, "reported"),
        ({"sent": 1, "reported": 2}, "rejected"),  # a file counts before a report
        ({**REJECTED, "sent": 1}, "rejected"),  # the selected file
        ({**REJECTED, "sent": 2, "failed": 1}, "rejected"),
        ({**FAILED, "sent": 2, "failed": 1}, "failed"),
        ({"sent": 2, "failed": 1}, "failed"),  # without it another file might be final
        ({"sent": 1, "waiting": 1}, "waiting"),
        ({"sent": 2, "failed": 1, "waiting": 1}, "waiting"),
        ({**OPEN}, "open"),
        ({**OPEN, "sent": 1, "failed": 1}, "open"),
        ({**OPEN, "sent": 1, "waiting": 1}, "waiting"),
        ({**GRADED, "sent": 3, "failed": 1, "waiting": 1}, "graded"),
    ],
)
def test_the_outcome_of_a_run(over: dict[str, Any], outcome: str) -> None:
    assert outcome_of(run(**over)) == outcome
