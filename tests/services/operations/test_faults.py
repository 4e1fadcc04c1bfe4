"""Pages of faults: the latest first, and a cursor only where more follow."""

from __future__ import annotations

from app.services.operations.faults import page
from app.services.runtime.context import Context
from app.storage.queries.operation.faults import add_fault
from tests.storage.make import NOON, World


def test_pages_of_faults_follow_each_other_from_the_latest(context: Context, here: World) -> None:
    one, other = here.submit().id, here.submit().id
    for attempt, sent in enumerate((one, other, one), 1):
        context.database.write(
            lambda session, n=attempt, s=sent: add_fault(session, s, n, "crashed", f"p{n}", NOON)
        )

    first, cursor = page(context, None, None, 2)
    rest, end = page(context, None, cursor, 2)

    assert [each.place for each in (*first, *rest)] == ["p3", "p2", "p1"]
    assert (cursor, end) == (first[-1].id, None)
    of_one, end = page(context, one, None, 2)  # exactly as many as there are
    assert ([each.place for each in of_one], end) == (["p3", "p1"], None)
    assert {(each.run, each.competition) for each in of_one} == {(here.run.id, "bikes")}
