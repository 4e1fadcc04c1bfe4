"""The rows of a heat map, and of the list of experiments."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.domain.feedback import Feedback
from app.domain.result_choices import Padding
from app.domain.states import RunState, SubmissionState
from app.errors import Invalid
from app.services.imports.grading_reports import ReportSource, import_reports
from app.services.results.cells import Cell, CellState, heat_map
from app.services.results.experiment_results import medal_rates
from app.services.results.experiment_summary import ExperimentSummary
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.results.overview import page
from app.services.runtime.context import Context
from app.storage.queries import runs
from app.storage.queries.elsewhere import imported_runs
from app.storage.queries.elsewhere.imported_runs import ImportedRunRecord
from tests.services.regrades.make import graded
from tests.services.results.make import add_imports, closed_run, exclude
from tests.services.submissions.conftest import readable_version
from tests.storage.make import (
    NOON,
    World,
    add_run,
    add_submission,
    add_version,
    make_submission,
)


def test_a_row_has_the_title_and_flags_of_the_current_version(
    context: Context, here: World
) -> None:
    graded(here)
    flagged = {"flags": [{"code": "leaky", "note": "A test."}], "complexity": "high"}
    newer = context.database.write(
        lambda session: add_version(session, "bikes", number=2, title="New", document=flagged)
    )
    found = heat_map(context, "first")
    (row,) = found.rows
    assert found.summary.flags == ("leaky",)
    assert (row.title, row.flags, row.complexity) == ("New", ("leaky",), "high")

    add_run(context.database, newer, "first", seed=2)
    (row,) = heat_map(context, "first").rows
    assert (row.title, len(row.cells)) == ("New", 2)


def test_each_outcome_of_a_run_has_its_state(context: Context) -> None:
    bikes = readable_version(context, "bikes")
    place = {"better": 1, "equal": 1, "worse": 2}
    closed_run(context, bikes, 0, {"medal": "gold", "above_median": True, **place})
    for seed, medal in ((1, "silver"), (2, "bronze")):
        closed_run(context, bikes, seed, {"medal": medal, "above_median": True})
    closed_run(context, bikes, 3, {"above_median": True})
    closed_run(context, bikes, 4, {"above_median": False})
    for seed, state in ((5, SubmissionState.REJECTED), (6, SubmissionState.FAILED)):
        run, _ = closed_run(context, bikes, seed)
        sent = make_submission(run, state=state, settled_at=NOON)
        context.database.write(lambda session, sent=sent: add_submission(session, sent))
    closed_run(context, bikes, 7)
    open_run, _ = closed_run(context, bikes, 8, state=RunState.OPEN, closed_at=None)
    waits = make_submission(open_run)
    context.database.write(lambda session: add_submission(session, waits))

    found = heat_map(context, "first")
    (row,) = found.rows
    assert [cell.state for cell in row.cells] == [
        CellState.GOLD, CellState.SILVER, CellState.BRONZE, CellState.ABOVE_MEDIAN,
        CellState.VALID, CellState.REJECTED, CellState.FAILED, CellState.NOTHING,
        CellState.PENDING,
    ]  # fmt: skip
    assert row.medals == 3
    assert (found.summary.percentile, found.summary.open) == (75.0, 1)
    outside = heat_map(context, "first", "mle-bench-low")
    assert (outside.seeds, outside.summary.runs) == ((), 0)


def test_few_runs_of_many_seeds_do_not_fill_a_page_with_cells_of_no_run(context: Context) -> None:
    """Ten thousand entries, of 280 KB, made a page of 34 MB for the 75 competitions of a suite."""
    slug = sorted(context.catalogue.suites()["mle-bench"])[0]
    entries = [{"competition_id": slug, "score": None}] * 3_000
    report = json.dumps({"competition_reports": entries}).encode()
    import_reports(context, "many", [ReportSource(report)], seed=0, repeats=True, create=True)

    assert len(heat_map(context, "many").seeds) == 3_000
    with pytest.raises(Invalid, match="3,000 seeds at these 75 competitions"):
        heat_map(context, "many", "mle-bench")


def test_rows_are_grouped_by_complexity_and_only_the_states_that_occur_are_counted(
    context: Context, here: World
) -> None:
    graded(here)
    found = heat_map(context, "first")
    (row,) = found.rows
    gold, missing = Cell(CellState.GOLD, 1, is_near=True), Cell(CellState.MISSING, 2)
    easy, hard = (replace(row, complexity=each, cells=(gold, missing)) for each in ("low", "high"))
    some = replace(found, rows=(easy, hard, easy))

    assert some.groups == [("low", [easy, easy]), ("high", [hard])]
    assert some.counts == {CellState.GOLD: 3, CellState.MISSING: 3}
    assert list(some.counts) == [CellState.GOLD, CellState.MISSING]
    assert (some.near, easy.medals) == (3, 1)


def listed(context: Context, name: str) -> ExperimentSummary:
    found, _ = page(context, q=name, sort="name", descending=False, limit=9, offset=0)
    return next(one for one in found if one.experiment.name == name)


def test_the_list_has_the_flags_and_boards_of_current_versions(
    context: Context, here: World
) -> None:
    graded(here)
    context.database.write(
        lambda session: runs.update_run(session, here.run.id, state=RunState.CLOSED)
    )
    assert (listed(context, "first").flags, listed(context, "first").has_boards) == ((), True)
    flagged = {"flags": [{"code": "leaky", "note": "A test."}]}
    context.database.write(
        lambda session: add_version(session, "bikes", number=2, document=flagged)
    )
    assert listed(context, "first").flags == ("leaky",)

    context.database.write(
        lambda session: add_version(session, "bikes", number=3, leaderboard=None)
    )
    assert (listed(context, "first").flags, listed(context, "first").rates) == ((), None)


def test_the_list_counts_a_run_that_selected_a_rejected_file_as_rates_do(
    context: Context, here: World
) -> None:
    """The agent is not told under the policy none, and a regrade may reject a file later."""
    graded(here)
    rejected = here.submit(state=SubmissionState.REJECTED)
    chosen = {"state": RunState.CLOSED, "selected_id": rejected.id}
    context.database.write(lambda session: runs.update_run(session, here.run.id, **chosen))
    rates = medal_rates(context, "first", ResultFilter(), None)[1]["all"].rates

    found = listed(context, "first")
    assert rates["valid_submission"].mean == 0.0
    assert (found.pending, found.rates and found.rates["valid"]) == (0, 0.0)


def test_the_list_counts_missing_results_by_all_seeds_as_rates_do(
    context: Context, here: World
) -> None:
    """Seeds 0 and 1 at one competition, 2 and 3 at another: each misses those of the other."""
    graded(here)
    other = context.database.write(lambda session: add_version(session, "boats"))
    add_run(context.database, here.version, "first", seed=0, state="closed")
    for seed in (2, 3):
        add_run(context.database, other, "first", seed=seed, state="closed")
    rates, _ = result_context(context, "first", ResultFilter(padding=Padding.AVAILABLE))

    found = listed(context, "first")
    assert len(rates.missing) == 4
    assert (found.missing, found.seeds) == (4, len(rates.grid.seeds))
    drawn = heat_map(context, "first").summary
    assert (drawn.missing, drawn.seeds) == (4, 4)


def test_the_summary_of_a_heat_map_is_that_of_the_list(context: Context, here: World) -> None:
    """Two ways to count the same: in Python for one experiment, in the database for many."""
    place = {"better": 1, "equal": 1, "worse": 2, "above_median": True}
    newer = context.database.write(lambda session: add_version(session, "bikes", number=2))
    for seed, (medal, version) in enumerate(
        [("gold", newer), ("silver", newer), ("bronze", here.version), (None, newer)], 10
    ):
        closed_run(context, version, seed, {"medal": medal, **place})
    closed_run(context, newer, 20, {"medal": None, "above_median": False}, feedback=Feedback.NONE)
    closed_run(context, newer, 21, usage={"seconds": 60.0, "cost_usd": 2.0})
    excluded, _ = closed_run(context, newer, 22, {"medal": "gold"})
    exclude(context, excluded)
    add_imports(context, "first", {"bikes": {30: "gold", 31: None}, "leaves": {30: "bronze"}})

    drawn, found = heat_map(context, "first").summary, listed(context, "first")
    assert drawn == found
    assert found.rates is not None
    assert (found.open, found.runs, found.seeds) == (1, 11, 10)


def test_the_policy_of_imported_runs_is_not_known(context: Context, here: World) -> None:
    """They were listed as runs whose agents were told nothing."""
    graded(here)
    for seed in (4, 5):
        run = add_run(context.database, here.version, "first", seed=seed, state="closed",
                      feedback=Feedback.NONE)  # fmt: skip
        of = ImportedRunRecord(
            run_id=run.id, file="f", place="1", sha256="", document={}, imported_at=NOON
        )
        context.database.write(lambda session, of=of: imported_runs.add(session, [of]))

    rates, _ = result_context(context, "first", ResultFilter(padding=Padding.FAIL))
    for found in (listed(context, "first"), heat_map(context, "first").summary):
        assert (dict(found.policies), found.imported) == ({"validity": 1}, True)
        assert dict(found.policies) == rates.policies
    assert not listed(context, "second").imported
