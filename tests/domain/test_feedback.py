"""When an outcome may be shown: moments that depend on the step, not on what was graded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.feedback import Feedback, shown_at

RECEIVED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("step", "settled", "shown"),
    [(0.5, 0.1, 0.5), (0.5, 0.5, 0.5), (0.5, 1.2, 2.0), (0.5, 40.0, 64.0), (10.0, 35.0, 40.0),
     (0.0, 0.3, 0.3)],
)  # fmt: skip
def test_the_moments_are_multiples_of_the_step(step: float, settled: float, shown: float) -> None:
    found = shown_at(RECEIVED, RECEIVED + timedelta(seconds=settled), step)

    assert found == RECEIVED + timedelta(seconds=shown)


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        ("none", ""),
        ("validity", "state hides_time"),
        ("search", "state hides_time a_score search_score"),
        ("public", "state hides_time a_score public_score"),
        ("full", "state a_score search_score public_score everything"),
    ],
)
def test_a_policy_shows_what_its_name_says_and_no_more(policy: str, shown: str) -> None:
    found = Feedback(policy)
    names = ("state", "a_score", "search_score", "public_score", "everything")
    assert {name for name in names if getattr(found, f"shows_{name}")} == {*shown.split()} - {
        "hides_time"
    }
    assert found.hides_time is ("hides_time" in shown)
