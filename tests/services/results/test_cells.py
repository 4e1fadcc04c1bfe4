"""The rows of a heat map."""

from __future__ import annotations

from app.services.results.cells import heat_map
from app.services.runtime.context import Context
from tests.services.regrades.make import graded
from tests.storage.make import World, add_run, add_version


def test_a_row_has_the_title_and_flags_of_the_current_version(
    context: Context, here: World
) -> None:
    graded(here)
    flagged = {"flags": [{"code": "leaky", "note": "A test."}], "complexity": "high"}
    newer = context.database.write(
        lambda session: add_version(session, "bikes", number=2, title="New", document=flagged)
    )
    (row,) = heat_map(context, "first").rows
    assert (row.title, row.flags, row.complexity) == ("New", ("leaky",), "high")

    add_run(context.database, newer, "first", seed=2)
    (row,) = heat_map(context, "first").rows
    assert (row.title, len(row.cells)) == ("New", 2)
