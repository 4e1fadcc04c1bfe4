"""When an outcome may be shown: moments that depend on the step, not on what was graded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.feedback import shown_at

RECEIVED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("step", "settled", "shown"),
    [(0.5, 0.1, 0.5), (0.5, 0.5, 0.5), (0.5, 1.2, 2.0), (0.5, 40.0, 64.0), (10.0, 35.0, 40.0)],
)
def test_the_moments_are_multiples_of_the_step(step: float, settled: float, shown: float) -> None:
    found = shown_at(RECEIVED, RECEIVED + timedelta(seconds=settled), step)

    assert found == RECEIVED + timedelta(seconds=shown)
