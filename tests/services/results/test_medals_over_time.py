"""The points of the curves, and the runs that they are of."""

from __future__ import annotations

import pytest

from app.domain.result_choices import Axis, Padding
from app.errors import Conflict
from app.services.results.inputs.scope import ResultFilter
from app.services.results.medals_over_time import curves
from app.services.runtime.context import Context
from app.statistics.medals_over_time import Choice
from app.storage.database.records import VersionRecord
from app.storage.queries import runs
from tests.services.results.make import NOON, add_imports, closed_run
from tests.services.submissions.conftest import readable_version
from tests.storage.make import add_submission, make_submission

ALL = ResultFilter()


@pytest.fixture
def bikes(context: Context) -> VersionRecord:
    """A competition with a run that wins gold after an hour, and loses it after two."""
    version = readable_version(context, "bikes")
    closed_run(context, version, 1, {"medal": "gold"}, {"medal": None})
    return version


def test_each_choice_has_its_rate_at_each_moment(context: Context, bikes: VersionRecord) -> None:
    found = curves(context, "first", ResultFilter(), Axis.HOURS, (0.5, 1.0, 2.0))

    rates = {by: [one.any_medal for one in points] for by, points in found.points.items()}
    assert rates[Choice.LAST] == [0.0, 100.0, 0.0]
    assert rates[Choice.ORACLE] == [0.0, 100.0, 100.0]
    assert found.regret[Choice.LAST].regret == 100.0
    assert (found.runs, found.seeds, found.left_out, found.missing) == (1, 1, 0, [])


def test_without_moments_the_last_of_24_is_that_of_the_last_file(
    context: Context, bikes: VersionRecord
) -> None:
    points = curves(context, "first", ResultFilter(), Axis.HOURS, ()).points[Choice.LAST]

    assert (len(points), points[11].at, points[-1].at) == (24, 1.0, 2.0)


def test_without_moments_the_last_is_that_of_a_rejected_file_that_came_later(
    context: Context, bikes: VersionRecord
) -> None:
    run, _ = closed_run(context, bikes, 2)
    (first, *_) = curves(context, "first", ALL, Axis.HOURS, ()).points.values()
    assert first[-1].at == 2.0
    bad = make_submission(run, state="rejected", settled_at=NOON, run_seconds=4 * 3600.0)
    context.database.write(lambda session: add_submission(session, bad))
    context.database.write(lambda session: runs.update_run(session, run.id, selected_id=bad.id))

    (first, *_) = curves(context, "first", ALL, Axis.HOURS, ()).points.values()
    assert first[-1].at == 4.0


def test_a_result_without_times_is_a_run_without_medals(
    context: Context, bikes: VersionRecord
) -> None:
    add_imports(context, "first", {"bikes": {2: "gold"}})

    found = curves(context, "first", ResultFilter(padding=Padding.FAIL), Axis.HOURS, (1.0,))
    assert [one.any_medal for one in found.points[Choice.LAST]] == [50.0]
    assert [(one.seed, one.reason) for one in found.missing] == [
        (2, "its result was imported, without times"),
    ]  # fmt: skip


def test_no_curve_is_shown_of_a_usage_that_no_run_reported(
    context: Context, bikes: VersionRecord
) -> None:
    """A run without a file is no curve either."""
    closed_run(context, bikes, 2, usage={"seconds": 60, "prompt_tokens": 9, "completion_tokens": 1})

    with pytest.raises(Conflict, match="No run of 'first' here can be shown against tokens"):
        curves(context, "first", ResultFilter(), Axis.TOKENS, ())
