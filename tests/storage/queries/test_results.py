"""Results of very many runs are read in parts on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.storage.queries import results
from tests.storage.make import World, add_run


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_results_are_read_in_parts(world: World) -> None:
    """PostgreSQL's driver read all rows at once: 240,000 runs took 150 MB more."""
    for seed in range(2, 9):
        add_run(world.database, world.version, "many", seed=seed)
    with world.database.read() as session:
        found = results.run_results(session, experiments=["many"])
        seeds = [next(found).seed]
        cursors = session.scalar(text("SELECT count(*) FROM pg_cursors"))
        seeds += [run.seed for run in found]
    assert (cursors, sorted(seeds)) == (1, [*range(2, 9)])
