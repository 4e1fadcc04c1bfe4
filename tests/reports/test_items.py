"""The table of a suite's competitions as items of a test."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Padding
from app.reports.document.page import Marked
from app.reports.document.report import columns_of
from app.reports.items import items_report
from app.services.results.inputs.scope import ResultContext, ResultFilter
from app.statistics.attempts import make_grid
from app.statistics.item_analysis import item_table
from app.statistics.rasch import FEWEST
from tests.reports.make import PLAIN
from tests.statistics.make import attempt

SCOPE = ResultFilter("tiny", Padding.FAIL)


def context(name: str, medals: dict[str, list[str | None]]) -> ResultContext:
    """An experiment with these medals; a seed fewer than two is missing."""
    attempts = [
        attempt(slug, seed, medal) for slug, won in medals.items() for seed, medal in enumerate(won)
    ]
    grid = make_grid(attempts, set(medals), seeds=(0, 1), padding=Padding.FAIL)
    return replace(
        PLAIN,
        experiment=replace(PLAIN.experiment, name=name),
        filters=SCOPE,
        grid=grid,
        missing=tuple((slug, seed, "no run") for slug, seed in grid.missing),
    )


def test_missing_results_are_marked_where_they_are_and_few_experiments_have_no_slopes() -> None:
    contexts = [
        context("full", {"bikes": ["gold", None], "whales": ["gold", "gold"]}),
        context("gap", {"bikes": [None, None], "whales": ["gold"]}),
    ]
    found = item_table([one.grid for one in contexts], names=["full", "gap"])

    page = items_report(SCOPE, contexts, found, [("third", "it has no result")], "gold").page()

    items, abilities = page.tables
    assert items.header[2] == "gold (%)"
    note = ("1 missing: such results count as failures (padding=fail)",)
    bikes, whales = (line[:4] for line in items.rows)
    assert bikes == ["bikes", 4, "25.00", "50.00"]
    assert whales == ["whales", 4, Marked("75.00", note), "50.00"]
    for line, one in zip(items.rows, found.items, strict=True):
        assert line[4] == f"{one.difficulty:+.2f} ± {one.difficulty_error:.2f}"
        assert [*line[5:7], *line[8:]] == ["", "not known", "not known", ""]
    shown = [f"{one.ability:+.2f} ± {one.error:.2f}" for one in found.abilities]
    assert [line[:2] for line in abilities.rows] == [
        ["full", shown[0]], ["gap", Marked(shown[1], note)]
    ]  # fmt: skip
    assert abilities.header == ["experiment", "ability"]
    assert "full: suite tiny, 2 competitions, 2 seeds." in page.notes
    assert f"Slopes need at least {FEWEST} experiments." in page.notes
    assert (
        f"Attempts vary {found.dispersion:.2f} times as much as the model says; errors have "
        in ("\n".join(page.notes))
    )
    assert page.notes[-1] == "third is not counted: it has no result"


def test_enough_experiments_have_slopes() -> None:
    won: list[list[str | None]] = [[None, None], ["gold", None], ["gold", "gold"], ["gold", None]]
    contexts = [
        context(f"e{number}", {"bikes": medals, "whales": medals[::-1], "owls": medals})
        for number, medals in enumerate(won)
    ]
    found = item_table([one.grid for one in contexts], names=[f"e{n}" for n in range(4)])

    page = items_report(SCOPE, contexts, found, [], "any_medal").page()

    assert not [each for each in page.notes if each.startswith("Slopes need")]
    for line, one in zip(page.tables[0].rows, found.items, strict=True):
        assert one.slope is not None
        assert line[5] == f"{one.slope:.2f}"
        assert " to " in line[6]


def test_each_item_is_a_row_and_the_document_names_all_experiments() -> None:
    contexts = [context("full", {"bikes": ["gold", None]}), context("gap", {"bikes": [None]})]
    contexts = [replace(one, archived_competitions=("owls",)) for one in contexts]
    found = item_table([one.grid for one in contexts], names=["full", "gap"])
    report = items_report(SCOPE, contexts, found, [("third", "it has no result")], "gold")

    (row,) = report.rows
    assert (row["competition"], row["attempts"], row["slope95_low"]) == ("bikes", 4, None)
    document = report.document
    assert document["experiments"] == ["full", "gap"]
    missing = {"experiment": "gap", "competition": "bikes", "seed": 1, "reason": "no run"}
    assert document["missing"] == [missing]
    assert document["absent"] == [{"experiment": "third", "reason": "it has no result"}]
    assert document["archived_competitions"] == ["owls"]
    nothing = items_report(SCOPE, [], replace(found, items=[], abilities=[]), [], "gold")
    assert nothing.document["archived_competitions"] == []
    assert columns_of(nothing.rows) == list(row)
