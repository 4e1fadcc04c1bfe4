"""The row of a comparison has the ends of its intervals."""

from __future__ import annotations

from dataclasses import replace

from app.reports.comparisons import comparison_report
from app.statistics.attempts import make_grid
from app.statistics.comparison import compare
from tests.reports.make import PLAIN
from tests.statistics.make import attempt


def test_each_interval_has_two_columns_which_are_empty_without_one() -> None:
    slugs = [f"c{n}" for n in range(4)]
    grids = [
        make_grid(
            [attempt(slug, 0, medal) for slug, medal in zip(slugs, medals, strict=True)], set(slugs)
        )
        for medals in (["gold", "gold", None, None], [None, None, None, "gold"])
    ]
    a, b = (replace(PLAIN, grid=grid) for grid in grids)

    for found in (compare(*grids), compare(grids[0], grids[0])):
        (row,) = comparison_report(a, b, found, "any_medal").rows
        for name in ("ci95", "bootstrap95", "runs95", "competitions95"):
            ends = getattr(found, name)
            assert (row[f"{name}_low"], row[f"{name}_high"]) == (ends or (None, None))
    assert compare(*grids).ci95 is not None
