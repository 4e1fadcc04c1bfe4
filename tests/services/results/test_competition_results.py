"""The attempts at one competition: runs and imports, and what each of them may show."""

from __future__ import annotations

import pytest

from app.domain.states import ArchivalKind, ReportedScoreKind
from app.errors import NotFound
from app.services.results.competition_results import CompetitionResult, at_competition
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord, VersionRecord
from app.storage.queries.elsewhere import reported_scores
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from tests.services.results.make import NOON, archive_it, closed_run, exclude, import_medals
from tests.services.submissions.conftest import TOML, readable_version
from tests.storage.make import add_run

BASELINE = '\n[baseline]\nscore = 4.0\nsource = "starter code"\n'
SECOND = {
    "score": 2.0, "better": 1, "equal": 0, "worse": 3, "medal": "silver", "above_median": True,
}  # fmt: skip


@pytest.fixture
def bikes(context: Context) -> VersionRecord:
    """A competition whose lowest score is the best."""
    return readable_version(context, "bikes", TOML + BASELINE)


def attempts(context: Context, **archived: bool) -> list[CompetitionResult]:
    """The attempts; without `archived`, as pages ask for them."""
    _, found = at_competition(context, "bikes", "mid-rank", **archived)
    return found


def report(context: Context, run: RunRecord) -> None:
    record = ReportedScoreRecord(
        run_id=run.id, kind=ReportedScoreKind.REPORTED, score=9.0, final=True, evidence={},
        reported_at=NOON,
    )  # fmt: skip
    context.database.write(lambda session: reported_scores.add(session, record))


def test_runs_and_imports_are_listed_by_experiment_and_seed(
    context: Context, bikes: VersionRecord
) -> None:
    import_medals(context, "second", {"bikes": ["gold"], "leaves": [None]})
    add_run(context.database, bikes, "first", seed=2)
    _, (sent,) = closed_run(context, bikes, 1, SECOND)

    run, is_open, imported = found = attempts(context)
    assert [(one.experiment, one.seed, one.source, one.state) for one in found] == [
        ("first", 1, "run", "settled"), ("first", 2, "run", "the run is open"),
        ("second", 0, "imported", "settled"),
    ]  # fmt: skip
    assert (imported.medal, imported.score, imported.improvement) == ("gold", 0.5, 0.875)
    assert (run.submission, run.medal, run.percentile, run.success) == (sent, "silver", 75.0, True)
    assert run.improvement == 0.5
    assert (run.agent, run.model, run.made, run.above_median) == ("aide", "m", True, True)
    assert (run.valid, imported.valid) == (True, True)
    assert (is_open.made, is_open.valid, is_open.medal, is_open.score) == (None,) * 4


def test_an_excluded_run_shows_no_numbers_and_an_archived_one_nothing(
    context: Context, bikes: VersionRecord
) -> None:
    run, _ = closed_run(context, bikes, 1, SECOND)
    gone, _ = closed_run(context, bikes, 2, SECOND)
    report(context, run)
    shown = [(one.score, one.reported_score, one.reported_sort) for one in attempts(context)]
    assert shown == [(2, 9, "reported"), (2, None, None)]

    exclude(context, run)
    archive_it(context, ArchivalKind.RUN, gone.id)
    (found,) = attempts(context)
    assert found.state == "excluded by a review"
    numbers = (
        found.score, found.medal, found.above_median, found.better, found.equal, found.worse,
        found.percentile, found.improvement, found.success, found.reported_score,
        found.reported_sort,
    )  # fmt: skip
    assert set(numbers) == {None}
    assert [one.seed for one in attempts(context, archived=True)] == [1, 2]


def test_without_a_baseline_there_is_no_improvement(context: Context) -> None:
    closed_run(context, readable_version(context, "bikes"), 1, SECOND)
    (found,) = attempts(context)
    assert (found.score, found.improvement, found.success) == (2.0, None, None)


def test_a_competition_of_which_nothing_is_known_is_not_found(context: Context) -> None:
    with pytest.raises(NotFound, match="There is no competition 'bikes'"):
        attempts(context)
    import_medals(context, "elsewhere", {"bikes": ["gold"]})
    assert [one.improvement for one in attempts(context)] == [None]
