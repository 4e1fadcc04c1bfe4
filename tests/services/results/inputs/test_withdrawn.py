"""An imported result that was withdrawn, and what came in its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.services.experiments.amendments import withdraw_imports
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.runtime.context import Context
from app.storage.queries.regrades.in_force import Basis
from tests.services.results.make import add_imports, closed_run, import_medals
from tests.services.submissions.conftest import readable_version


@pytest.mark.parametrize("place", ["import", "withdrawn import", "run"])
def test_a_past_time_has_one_result_although_the_clock_was_set_back(
    context: Context, place: str
) -> None:
    """Both counted at the times from the new one's to the withdrawal's, and nothing was answered.

    An import that waited for a withdrawal has such a time without any change of the clock.
    """
    version, back = readable_version(context, "bikes"), datetime.now(UTC) - timedelta(hours=1)

    def withdraw() -> None:
        withdraw_imports(context, "first", competition=None, seed=None, reason="wrong", by=None)

    import_medals(context, "first", {"bikes": ["gold"]})
    withdraw()
    if place == "run":
        closed_run(context, version, 0, created_at=back, closed_at=back)
    else:
        add_imports(context, "first", {"bikes": {0: None}}, imported_at=back)
    if place == "withdrawn import":
        withdraw()

    def medals(hours: float) -> int:
        then = Basis(as_of=back + timedelta(hours=hours))
        found, _ = result_context(context, "first", ResultFilter(basis=then))
        return int(found.grid.outcomes[:, :, 0].sum())

    assert medals(-0.5) == 1
    assert medals(0.5) == 0
