"""What belongs to the results that count: imports, reviews and regrades."""

from __future__ import annotations

import pytest

from app.services.regrades.apply import apply
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.runtime.context import Context
from tests.services.regrades.make import started
from tests.services.regrades.test_apply import settle_all
from tests.services.results.make import closed_run, exclude, import_medals, send
from tests.services.submissions.conftest import readable_version
from tests.storage.make import add_run


def test_imported_results_are_counted(context: Context) -> None:
    import_medals(context, "made elsewhere", {"bikes": ["gold", None], "leaves": ["silver", None]})

    own, _ = result_context(context, "made elsewhere", ResultFilter())

    assert own.imported == 4


def test_the_rates_with_excluded_runs_are_there_only_where_a_review_excludes_one(
    context: Context,
) -> None:
    bikes = readable_version(context, "bikes")
    closed_run(context, bikes, 1, {"medal": None})
    run, _ = closed_run(context, bikes, 2, {"medal": "gold"})
    before, _ = result_context(context, "first", ResultFilter())
    assert (before.reviewed, before.with_excluded) == ((), None)

    exclude(context, run)
    after, _ = result_context(context, "first", ResultFilter())

    assert after.reviewed == (("bikes", 2),)
    assert after.with_excluded is not None
    assert after.with_excluded["any_medal"] == 50.0


@pytest.mark.parametrize(("slug", "named"), [("bikes", True), ("leaves", False)])
def test_the_regrades_named_are_those_of_its_competitions(
    context: Context, slug: str, named: bool
) -> None:
    closed_run(context, readable_version(context, "bikes"), 1, {"medal": "gold"})
    other = add_run(context.database, readable_version(context, "leaves"), "second")
    send(context, other, 1.0, medal="gold")
    regrade = started(context, competition=slug)
    settle_all(context, 0.75, fails=False)
    apply(context, regrade.id, reason="mended", by=None)

    own, _ = result_context(context, "first", ResultFilter())

    assert [one.id for one in own.regrades] == ([regrade.id] if named else [])
