"""Which public scores decide, and which competitions have none."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from app.domain.result_choices import Reviews
from app.domain.states import ArchivalKind
from app.errors import Conflict
from app.services.imports.grading_reports import ReportSource, import_reports
from app.services.results.experiment_results import pass_at_k
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord
from app.storage.queries.regrades.in_force import Basis
from tests.grading_reports import entry, medal_lines
from tests.services.results.make import (
    NOON,
    add_imports,
    archive_it,
    closed_run,
    exclude,
    send,
)
from tests.services.submissions.conftest import readable_version
from tests.services.submissions.test_run_events import TOML

GOLD = {"score": 0.1, "public_score": 0.4, "medal": "gold"}
NOTHING = {"score": 0.9, "public_score": 0.3}
ALL = ResultFilter()


def chosen(context: Context, filters: ResultFilter = ALL, k: int = 2) -> tuple[object, ...]:
    """pass@k, the rate of the attempt that is chosen, and what has no public scores."""
    _, (best,), public = pass_at_k(context, "first", filters, (k,), "any_medal")
    rates = [one.chosen_by_public for one in public.found]
    return best.mean, rates, public.without_public_scores


def test_the_best_public_score_is_the_lowest_where_the_metric_says_so(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, GOLD)
    closed_run(context, bikes, 2, NOTHING)

    assert chosen(context) == (100.0, [0.0], [])


def test_the_best_public_score_is_the_highest_where_the_metric_says_so(context: Context) -> None:
    version = readable_version(
        context, "leaves", TOML.replace("root_mean_squared_error", "r2_score")
    )
    closed_run(context, version, 1, GOLD)
    closed_run(context, version, 2, NOTHING)

    assert chosen(context) == (100.0, [100.0], [])


def test_a_competition_whose_grader_gives_no_public_score_has_no_choice(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, GOLD)
    closed_run(context, bikes, 2, {**NOTHING, "public_score": None})

    assert chosen(context) == (100.0, [], ["bikes"])


def test_an_excluded_run_is_chosen_only_where_reviews_are_ignored(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, GOLD)
    closed_run(context, bikes, 2, NOTHING)
    run, _ = closed_run(context, bikes, 3, {**GOLD, "public_score": 0.2})
    exclude(context, run)

    assert chosen(context) == (100.0, [0.0], [])
    # Of the three pairs, the two with seed 3 choose its medal, and the third chooses seed 2.
    assert chosen(context, ResultFilter(reviews=Reviews.IGNORE))[1] == [pytest.approx(200 / 3)]
    one = {**entry(next(iter(medal_lines().values())), None), "competition_id": "bikes"}
    report = json.dumps({"competition_reports": [one]}).encode()
    with pytest.raises(Conflict, match="has another run of seed 3 at bikes"):
        import_reports(context, "first", [ReportSource(report, "")], seed=3, repeats=False)


def test_a_competition_with_a_valid_import_has_no_choice(
    context: Context, bikes: VersionRecord
) -> None:
    leaves = readable_version(context, "leaves")
    for version in (bikes, leaves):
        closed_run(context, version, 1, GOLD)
    add_imports(context, "first", {"bikes": {2: "gold"}})
    add_imports(context, "first", {"leaves": {2: None}}, valid=False)

    # At leaves the invalid file is chosen only where it is alone.
    assert chosen(context) == (100.0, [100.0], ["bikes"])
    assert chosen(context, k=1) == (75.0, [50.0], ["bikes"])


def test_an_archived_run_is_chosen_only_where_it_is_asked_for(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, GOLD)
    run, _ = closed_run(context, bikes, 2, NOTHING)
    archive_it(context, ArchivalKind.RUN, run.id)

    assert chosen(context, k=1) == (100.0, [100.0], [])
    assert chosen(context, ResultFilter(archived=True)) == (100.0, [0.0], [])


def test_a_past_time_has_the_final_submissions_of_then(
    context: Context, bikes: VersionRecord
) -> None:
    """Seed 1 sent a better public score an hour later, and lost its medal by it."""
    run, _ = closed_run(context, bikes, 1, {**GOLD, "public_score": 0.2})
    closed_run(context, bikes, 2, NOTHING)
    send(context, run, 3.0, score=0.8, public_score=0.1)

    then = Basis(as_of=NOON + timedelta(hours=2))
    assert chosen(context, ResultFilter(basis=then)) == (100.0, [100.0], [])
    assert chosen(context) == (0.0, [0.0], [])
