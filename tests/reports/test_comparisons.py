"""Tables and rows of pass@k and of comparisons."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import Padding
from app.reports.comparisons import comparison_report, pass_at_k_report, simultaneous_report
from app.reports.document.page import Marked
from app.reports.document.tables import interval_cell, p_cell
from app.services.results.choice.public_choice import PublicChoice
from app.services.results.inputs.scope import ResultFilter
from app.statistics.attempts import Grid, make_grid
from app.statistics.chosen_by_public import ChosenAtK
from app.statistics.comparison import compare
from app.statistics.pass_at_k import PassAtK
from app.statistics.simultaneous import compare_all
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


ASKED = replace(
    PLAIN, filters=ResultFilter("tiny", Padding.FAIL), missing=(("bikes", 2, "no run"),)
)
MISSING = ("1 missing: such results count as failures (padding=fail)",)
CHOSEN = ChosenAtK(2, 1, 80.0, 60.0, (1.0, 2.0), 20.0, (3.0, 4.0), (5.0, 6.0), None,
                   (7.0, 8.0), None)  # fmt: skip
SLUGS = [f"c{n}" for n in range(8)]


def grid_of(*medals: str | None) -> Grid:
    attempts = [attempt(slug, 0, medal) for slug, medal in zip(SLUGS, medals, strict=True)]
    return make_grid(attempts, set(SLUGS))


def test_pass_at_k_is_shown_beside_the_choice_by_public_score() -> None:
    found = [PassAtK(1, 50.0, None, (10.0, 90.0), None),
             PassAtK(2, 75.0, (20.0, 95.0), None, (30.0, 99.0))]  # fmt: skip
    one = replace(CHOSEN, k=1, chosen_by_public_competitions95=(11.0, 12.0),
                  gap_competitions95=(13.0, 14.0))  # fmt: skip
    public = PublicChoice([one, CHOSEN], ["owls"])
    report = pass_at_k_report(ASKED, found, "any_medal", public)

    page, cannot = report.page(), "not known"
    passes, chosen = page.tables
    assert passes.rows == [
        [1, Marked("50.00", MISSING), "10.00 to 90.00", cannot],
        [2, Marked("75.00", MISSING), cannot, "30.00 to 99.00"],
    ]
    eighty, sixty, gap = (Marked(text, MISSING) for text in ("80.00", "60.00", "20.00"))
    nothing = "nothing to choose"
    assert chosen.rows == [
        [1, eighty, sixty, "5.00 to 6.00", "11.00 to 12.00", gap, nothing, nothing],
        [2, eighty, sixty, "5.00 to 6.00", cannot, gap, "7.00 to 8.00", cannot],
    ]
    assert page.notes[-2:] == [
        (
            "Chosen by public score: of k attempts the one with the best public score; pass@k "
            "beside it is over the same 1 competition."
        ),
        "No choice by public score at competitions without public scores: owls.",
    ]
    first, second = report.rows
    names = (
        "k", "mean", "bootstrap95_high", "public_competitions", "public_pass_at_k",
        "chosen_by_public", "chosen_by_public95_high", "gap", "gap95_high",
        "chosen_by_public_runs95_high", "gap_runs95_high", "without_public_scores",
    )  # fmt: skip
    assert [second[name] for name in names] == [
        2, 75.0, 95.0, 1, 80.0, 60.0, 2.0, 20.0, 4.0, 6.0, 8.0, 1,
    ]  # fmt: skip
    like = [first[f"{name}_competitions95_high"] for name in ("chosen_by_public", "gap")]
    assert like == [12.0, 14.0]
    assert (first["suite"], first["rate"], first["experiment"]) == ("tiny", "any_medal", "first")
    assert report.document["chosen_by_public"][1]["gap"] == 20.0

    # A competition whose public scores are not known does not lack results here.
    elsewhere = replace(ASKED, missing=(("owls", 2, "no run"),))
    page = pass_at_k_report(elsewhere, found, "any_medal", public).page()
    assert page.tables[1].rows[0][1] == "80.00"


def test_pass_at_k_without_public_scores_has_one_table() -> None:
    found = [PassAtK(1, 50.0, None)]
    report = pass_at_k_report(ASKED, found, "any_medal", PublicChoice([], []))

    assert len(report.page().tables) == 1
    assert "public score" not in report.markdown()
    assert report.rows[0]["public_competitions"] == 0
    ends = ("public_pass_at_k", "gap", "gap95_low", "gap_runs95_low", "chosen_by_public_runs95_low",
            "chosen_by_public_competitions95_low", "gap_competitions95_low")  # fmt: skip
    assert {report.rows[0][name] for name in ends} == {None}


def test_a_comparison_has_a_line_that_names_both() -> None:
    grids = grid_of(*["gold"] * 6, None, None), grid_of(None, "gold", *[None] * 6)
    a = replace(ASKED, grid=grids[0])
    b = replace(ASKED, grid=grids[1], experiment=replace(PLAIN.experiment, name="second"),
                missing=(("c1", 0, "open"),) * 2)  # fmt: skip
    found = compare(*grids)
    report = comparison_report(a, b, found, "any_medal")

    page = report.page()
    (table,) = page.tables
    assert table.header[:3] == ["first (%)", "second (%)", "difference"]
    (line,) = table.rows
    both = (MISSING[0], "2 missing results count as failures (padding=fail)")
    assert line[:3] == [
        Marked("75.00", MISSING), Marked("12.50", (both[1],)), Marked("+62.50", both),
    ]  # fmt: skip
    assert found.detectable is not None
    shown = [interval_cell(found.runs95), interval_cell(found.competitions95), p_cell(found.p),
             interval_cell(found.bootstrap95), f"5:0, {p_cell(found.sign_test.p)}",
             f"{found.detectable:.2f}"]  # fmt: skip
    assert line[3:] == [Marked(text, both) for text in shown]
    (row,) = report.rows
    assert (row["sign_test_a_ahead"], row["a_missing"], row["b_missing"]) == (5, 1, 2)
    assert (row["a"], row["b"], row["suite"], row["padding"]) == ("first", "second", "tiny", "fail")
    assert report.document["b"]["experiment"] == "second"
    same = comparison_report(a, b, compare(grids[0], grids[0]), "any_medal").page().tables[0]
    assert same.rows[0][-1] == Marked("not known", both)


def test_all_pairs_have_a_ranking_and_a_table() -> None:
    grids = [grid_of(*["gold"] * 8), grid_of(*[None] * 8), grid_of("gold", *[None] * 7)]
    names = ["first", "second", "third"]
    contexts = [
        replace(PLAIN, grid=grid, experiment=replace(PLAIN.experiment, name=name),
                filters=ResultFilter("tiny"), missing=())
        for name, grid in zip(names, grids, strict=True)
    ]  # fmt: skip
    contexts[1] = replace(ASKED, grid=grids[1], experiment=contexts[1].experiment)
    found = compare_all(names, grids)
    report = simultaneous_report(contexts, found, "any_medal")

    page = report.page()
    ranking, pairs = page.tables
    assert ranking.header[1] == "any_medal (%)"
    assert ranking.rows == [
        ["first", "100.00", "1 to 1", "a"], ["third", "12.50", "2 to 3", "b"],
        ["second", Marked("0.00", MISSING), "2 to 3", "b"],
    ]  # fmt: skip
    assert pairs.header == ["a", "b", "a - b", "simultaneous 95 %", "Holm", "ahead"]
    lines = {(line[0], line[1]): line[2:] for line in pairs.rows}
    pair = next(one for one in found.pairs if {one.a, one.b} == {"first", "third"})
    sign = "+" if pair.a == "first" else "-"
    assert lines[pair.a, pair.b] == [
        f"{sign}87.50", interval_cell(pair.simultaneous95), p_cell(pair.p_holm), "first",
    ]  # fmt: skip
    unclear = next(line for ends, line in lines.items() if set(ends) == {"second", "third"})
    assert isinstance(unclear[0], Marked)
    assert (unclear[0].notes, unclear[-1]) == (MISSING, "")
    assert page.notes[:3] == [
        "Over the same 8 competitions.",
        "All intervals together hold with 95 %.",
        "Experiments that share a letter cannot be told apart.",
    ]
    row = next(row for row in report.rows if (row["a"], row["b"]) == (pair.a, pair.b))
    low, high = pair.simultaneous95 or (None, None)
    assert (row["simultaneous95_low"], row["simultaneous95_high"]) == (low, high)
    assert (row["rate"], row["suite"], row["ahead"]) == ("any_medal", "tiny", "first")
    assert report.document["competitions"] == 8
    assert [one["experiment"] for one in report.document["basis"]] == names
