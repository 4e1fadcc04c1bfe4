"""The pages of one experiment's medal rates and of a board."""

from __future__ import annotations

from dataclasses import replace

from app.domain.result_choices import RATES, GroupBy, Padding
from app.reports.board_columns import BOUNDS_NOTE, COMPETITIONS_NOTE, RUNS_NOTE, SEM_NOTE
from app.reports.document.page import Marked
from app.reports.document.report import columns_of
from app.reports.document.tables import interval_cell
from app.reports.medal_rates import RATE_ROW, board_report, medal_rates_report
from app.services.results.board import Board
from app.services.results.inputs.scope import ResultFilter
from app.services.results.noise.experiment_noise import RateNoise
from app.statistics.attempts import make_grid
from app.statistics.rates import medal_rates
from tests.reports.make import PLAIN
from tests.statistics.make import attempt

ATTEMPTS = [attempt("bikes", 0, "gold"), attempt("bikes", 1), attempt("owls", 0, "bronze"),
            attempt("owls", 1)]  # fmt: skip
ASKED = replace(
    PLAIN, grid=make_grid(ATTEMPTS, {"bikes", "owls"}),
    filters=ResultFilter("tiny", Padding.FAIL),
)  # fmt: skip
GROUPS = medal_rates(ASKED.grid, {"low": ["bikes"], "high": ["owls"]})
ALL_RATES = [f"{mean} ± {sem}" for mean, sem in (
    ("50.00", "50.00"), ("25.00", "25.00"), ("0.00", "0.00"), ("25.00", "25.00"),
    ("50.00", "50.00"), ("100.00", "0.00"), ("100.00", "0.00"),
)]  # fmt: skip


def test_the_page_has_the_form_of_mle_bench_all_rates_and_intervals() -> None:
    noise = [RateNoise("any_medal", 3, 1, 2, 1, 0)]
    report = medal_rates_report(ASKED, GROUPS, GroupBy.COMPLEXITY, noise)

    row, rates, intervals = report.page().tables
    assert row.header[3:6] == ["Low == Lite (%)", "High (%)", "All (%)"]
    one = GROUPS["all"].rates["any_medal"]
    assert row.rows == [
        ["first", "a", "m", "50.00 ± 50.00", "50.00 ± 50.00", "50.00 ± 50.00",
         interval_cell(one.runs95), interval_cell(one.competitions95), "not known", "2"],
    ]  # fmt: skip
    assert rates.header == ["group", "competitions", *(name.replace("_", " ") for name in RATES)]
    assert {line[0]: line[1:] for line in rates.rows}["all"] == [2, *ALL_RATES]
    assert {line[0]: line[1:] for line in intervals.rows}["all"] == [
        "50.00", interval_cell(one.runs95), interval_cell(one.competitions95),
        "nothing is missing",
    ]  # fmt: skip
    notes = report.page().notes
    assert notes[:4] == [SEM_NOTE, RUNS_NOTE, COMPETITIONS_NOTE,
                         "first: suite tiny, 2 competitions, 2 seeds."]  # fmt: skip
    assert "noise" in notes[-1]
    assert report.document["noise"][0]["won_within_noise"] == 1
    group = report.document["groups"]["high"]
    assert (group["competitions"], group["seeds"], group["missing"]) == (1, 2, 0)
    assert (group["any_medal"]["mean"], group["gold"]["mean"]) == (50.0, 0.0)


def test_a_group_without_all_results_is_marked_in_each_table() -> None:
    grid = make_grid(ATTEMPTS[:3], {"bikes", "owls"}, padding=Padding.FAIL)
    asked = replace(ASKED, grid=grid, missing=(("owls", 1, "no run"),))
    groups = medal_rates(grid, {"low": ["bikes"], "high": ["owls"]})
    page = medal_rates_report(asked, groups, GroupBy.COMPLEXITY, []).page()

    marks = ("1 missing: such results count as failures (padding=fail)",)
    row, rates, intervals = page.tables
    assert row.rows[0][3:5] == ["50.00 ± 50.00", Marked("50.00 ± 50.00", marks)]
    lines = {line[0]: line[1:] for line in rates.rows}
    assert lines["high"][1] == Marked("50.00 ± 50.00", marks)
    bounds = groups["high"].rates["any_medal"].bounds
    assert bounds is not None
    assert {line[0]: line[-1] for line in intervals.rows} == {
        "low": "nothing is missing", "high": Marked(interval_cell(bounds), marks),
        "all": Marked(interval_cell(groups["all"].rates["any_medal"].bounds), marks),
    }  # fmt: skip


def board_of(**over: object) -> Board:
    second = replace(ASKED, experiment=replace(ASKED.experiment, name="second"))
    rows = [(ASKED, GROUPS), (second, GROUPS)]
    fields = {"competitions": ("bikes", "owls"), "rows": rows, "absent": [("third", "no run")],
              "total": 2, **over}  # fmt: skip
    return Board(**fields)  # type: ignore[arg-type]


def test_a_board_has_a_line_for_each_experiment_and_says_who_is_absent() -> None:
    page = board_report(board_of(), GroupBy.COMPLEXITY).page()

    (table,) = page.tables
    assert [line[0] for line in table.rows] == ["first", "second"]
    assert page.notes == [
        "All experiments over the same 2 competitions.", SEM_NOTE, RUNS_NOTE, COMPETITIONS_NOTE,
        "first, second: suite tiny, 2 competitions, 2 seeds.", "third is not counted: no run",
    ]  # fmt: skip
    chosen = board_report(board_of(), GroupBy.COMPLEXITY, ["experiment,low.bounds"])
    page = chosen.page()
    assert page.tables[0].rows == [
        ["first", "nothing is missing"],
        ["second", "nothing is missing"],
    ]
    assert page.notes[1:3] == [BOUNDS_NOTE, "first, second: suite tiny, 2 competitions, 2 seeds."]


def test_a_group_with_flagged_competitions_is_marked_in_its_heading() -> None:
    flagged = replace(ASKED, flags=(("owls", "leaky", ""),))
    page = board_report(board_of(rows=[(flagged, GROUPS), (ASKED, {})]), GroupBy.COMPLEXITY).page()

    note = ("with flagged competitions: leaky",)
    assert page.tables[0].header[3:6] == [
        "Low == Lite (%)", Marked("High (%)", note), Marked("All (%)", note),
    ]  # fmt: skip
    assert page.tables[0].rows[1][3:6] == ["not known"] * 3


def test_a_page_of_a_board_says_which_experiments_it_has() -> None:
    def note(following: str, **over: object) -> str:
        return board_report(board_of(total=5, **over), None, (), following).page().notes[1]

    next_one = "2 of 5 experiments: numbers 2 to 3; the next page: /v1/next"
    assert note("/v1/next", before=1, next_cursor="second") == next_one
    assert note("", before=3) == "2 of 5 experiments: numbers 4 to 5, the last page."
    assert note("", before=5, rows=[]) == "0 of 5 experiments: none is left, the last page."


def test_the_rows_of_a_board_end_with_those_that_have_no_rate() -> None:
    report = board_report(board_of(), None)
    assert [row["experiment"] for row in report.rows] == [
        *["first"] * 21, *["second"] * 21, "third",
    ]  # fmt: skip
    first, last = report.rows[0], report.rows[-1]
    assert list(first) == list(last) == list(RATE_ROW)
    names = ("group", "rate", "mean", "sem", "seeds", "suite", "padding", "not_counted")
    assert [first[name] for name in names] == [
        "all", "any_medal", 50.0, 50.0, 2, "tiny", "fail", None,
    ]  # fmt: skip
    assert (first["runs95_low"], first["runs95_high"]) == GROUPS["all"].rates["any_medal"].runs95
    assert {last[name] for name in names[:-1]} == {None}
    assert last["not_counted"] == "no run"
    document = report.document
    assert [one["experiment"] for one in document["items"]] == ["first", "second"]
    assert document["absent"] == [{"experiment": "third", "reason": "no run"}]
    for over in ({"next_cursor": "second"}, {"absent": []}):
        assert len(board_report(board_of(**over), None).rows) == 42
    nothing = board_report(board_of(rows=[], absent=[]), None).rows
    assert (list(nothing), columns_of(nothing)) == ([], list(RATE_ROW))
    absent = board_report(board_of(rows=[]), None).rows
    assert list(absent) == [{"experiment": "third", "not_counted": "no run"}]
