"""The score of each attempt on a scale: which board places it, and which attempts have none."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.result_choices import Padding, Reviews
from app.domain.states import ArchivalKind
from app.services.results.inputs.scope import ResultFilter, result_context
from app.services.results.scores.score_values import Key, values
from app.services.runtime.context import Context
from app.statistics.percentiles import GAP_CLOSED, PERCENTILE, SAMPLE_TO_GOLD
from app.storage.database.records import VersionRecord
from app.storage.queries import competitions
from app.storage.queries.regrades.in_force import Basis
from tests.services.results.make import NOON, add_imports, archive_it, closed_run, exclude
from tests.services.submissions.conftest import TOML, readable_version

BOARD = "score\n1\n2\n3\n4\n"  # the lowest is the best
LINES = """
[leaderboard]
source = "a test"
teams = 4
gold = 1.0
silver = 2.0
bronze = 3.0
median = 2.5
"""
BASELINE = '\n[baseline]\nscore = 5.0\nsource = "starter code"\n'
SECOND = {"score": 2.0, "better": 1, "equal": 1, "worse": 2}


def scores(
    context: Context, filters: ResultFilter = ResultFilter(), scale: str = PERCENTILE
) -> dict[Key, float]:
    counted, _ = result_context(context, "first", filters)
    return values(context, counted, scale, "mid-rank" if scale == PERCENTILE else None)


@pytest.fixture
def bikes(context: Context) -> VersionRecord:
    return readable_version(context, "bikes", TOML + BASELINE, BOARD)


def test_a_run_has_the_place_of_its_grade_and_an_import_that_of_the_board(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, {**SECOND, "better": 0, "worse": 3})
    closed_run(context, bikes, 2)
    closed_run(context, bikes, 3, {"score": 2.0})  # graded when there were medal lines only
    add_imports(context, "first", {"bikes": {4: None}}, score=2.0)
    add_imports(context, "first", {"bikes": {5: None}}, score=None, valid=False)

    found = scores(context)
    assert found == {("bikes", 1): 87.5, ("bikes", 2): 0.0, ("bikes", 4): 62.5, ("bikes", 5): 0.0}


def test_scores_go_from_the_baseline_to_the_best_team(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, SECOND)
    closed_run(context, bikes, 2, {"score": 6.0})
    lines = readable_version(context, "lines", TOML + LINES + BASELINE)
    for seed in (1, 2):
        closed_run(context, lines, seed, SECOND)  # it has no best team

    found = scores(context, scale=GAP_CLOSED)
    assert found == {("bikes", 1): 0.75, ("bikes", 2): 0.0}


def test_scores_go_from_the_sample_submission_to_the_gold_line(context: Context) -> None:
    """The sample of `none` was not measured, and that of `good` is better than the gold line."""
    for slug, sample in (("lines", 3.0), ("none", None), ("good", 0.5)):
        version = readable_version(context, slug, TOML + LINES)
        closed_run(context, version, 1, SECOND)
        context.database.write(
            lambda s, v=version, at=sample: competitions.add_sample_score(s, v.id, at, NOON)
        )

    assert scores(context, scale=SAMPLE_TO_GOLD) == {("lines", 1): 0.5}


def test_excluded_and_archived_runs_have_a_score_only_where_they_count(
    context: Context, bikes: VersionRecord
) -> None:
    for seed in (1, 2, 3):
        run, _ = closed_run(context, bikes, seed, SECOND)
        if seed == 2:
            exclude(context, run)
    archive_it(context, ArchivalKind.RUN, run.id)

    def seeds(filters: ResultFilter) -> list[int]:
        return [seed for _, seed in scores(context, filters)]

    assert seeds(ResultFilter()) == [1]
    assert seeds(ResultFilter(reviews=Reviews.IGNORE)) == [1, 2]
    assert seeds(ResultFilter(archived=True)) == [1, 3]


def test_a_past_time_has_the_results_of_then(context: Context, bikes: VersionRecord) -> None:
    closed_run(context, bikes, 1, SECOND, {**SECOND, "better": 3, "worse": 0})
    add_imports(context, "first", {"bikes": {2: None}}, imported_at=NOON + timedelta(days=1))

    then = ResultFilter(basis=Basis(NOON + timedelta(hours=1.5)), padding=Padding.FAIL)
    assert scores(context, then) == {("bikes", 1): 62.5}
    assert scores(context)["bikes", 1] == 12.5
