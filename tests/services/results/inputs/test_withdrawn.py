"""An imported result that was withdrawn, and what came in its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.states import ArchivalKind
from app.services.experiments.amendments import withdraw_imports
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.runtime.context import Context
from app.storage.queries.regrades.in_force import Basis
from tests.services.results.make import add_imports, archive_it, closed_run, import_medals
from tests.services.submissions.conftest import readable_version
from tests.storage.make import World


def test_archived_competitions_of_a_time_are_also_those_of_results_withdrawn_since(
    context: Context, here: World
) -> None:
    """They were left out, as then, and no answer said so."""
    import_medals(context, "imported", {"bikes": ["gold"], "leaves": ["gold"]})
    archive_it(context, ArchivalKind.COMPETITION, "leaves")
    at = ResultFilter(basis=Basis(datetime.now(UTC)))
    withdraw_imports(context, "imported", competition="leaves", seed=None, reason="wrong", by=None)

    found, _ = result_context(context, "imported", at)
    assert (found.grid.competitions, found.archived_competitions) == (("bikes",), ("leaves",))
    assert result_context(context, "imported", ResultFilter())[0].archived_competitions == ()


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
