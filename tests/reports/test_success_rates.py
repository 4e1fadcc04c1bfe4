"""A success rate as text."""

from __future__ import annotations

from app.reports.success_rates import _rate
from app.statistics.success import Rate


def test_a_rate_has_its_standard_error_where_it_is_known() -> None:
    assert _rate(Rate(50.0, 12.34, None, None)) == "50.0 ± 12.3"
    assert _rate(Rate(50.0, 0.0, None, None)) == "50.0 ± 0.0"
    assert _rate(Rate(100 / 3, None, None, None)) == "33.3"
    assert _rate(None) == "no run"
