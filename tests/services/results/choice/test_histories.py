"""The files of counted runs in their order, and the runs that have no files to show."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.result_choices import Axis, Excluded, Padding, Reviews
from app.domain.states import ArchivalKind, SubmissionState
from app.errors import AttemptsMissing
from app.services.results.choice.histories import MissingResult, histories_of
from app.services.results.inputs.attempts import EXCLUDED, WITHOUT_TIMES
from app.services.results.inputs.scope import ResultFilter
from app.services.runtime.context import Context
from app.storage.database.records import VersionRecord
from app.storage.queries import runs
from app.storage.queries.regrades.in_force import Basis
from tests.services.results.make import (
    NOON,
    add_imports,
    archive_it,
    closed_run,
    exclude,
)
from tests.services.submissions.conftest import readable_version
from tests.storage.make import add_submission, make_submission

FAIL = ResultFilter(padding=Padding.FAIL)


def test_files_are_in_hours_and_have_a_percentile_where_a_convention_is_named(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(
        context, bikes, 1, {"better": 1, "equal": 0, "worse": 3, "medal": "gold"}, {"score": 0.1}
    )

    (run,) = histories_of(context, "first", ResultFilter(), convention="mid-rank").runs
    assert (run.competition, run.seed, run.higher_is_better) == ("bikes", 1, False)
    assert [(one.at, one.percentile, one.selected) for one in run.sent] == [
        (1.0, 75.0, False), (2.0, None, True),
    ]  # fmt: skip
    assert run.invalid_from is None
    (run,) = histories_of(context, "first", ResultFilter()).runs
    assert [(one.medal, one.percentile) for one in run.sent] == [("gold", None), (None, None)]


def test_a_run_without_the_usage_of_the_axis_is_left_out(
    context: Context, bikes: VersionRecord
) -> None:
    """120 tokens in two hours are 60 in the first one."""
    use = {"seconds": 7200, "prompt_tokens": 100, "completion_tokens": 20}
    closed_run(context, bikes, 1, {}, usage=use)
    closed_run(context, bikes, 2, {}, usage={**use, "cost_usd": 3.0})

    found = histories_of(context, "first", ResultFilter(), Axis.TOKENS)
    assert [run.sent[0].at for run in found.runs] == [60.0, 60.0]
    found = histories_of(context, "first", ResultFilter(), Axis.DOLLARS)
    assert [(run.seed, run.sent[0].at) for run in found.runs] == [(2, 1.5)]
    assert found.left_out == 1


def test_runs_that_reviews_exclude_and_imports_have_no_files(
    context: Context, bikes: VersionRecord
) -> None:
    closed_run(context, bikes, 1, {})
    run, _ = closed_run(context, bikes, 2, {}, {})
    exclude(context, run)
    assert [one.seed for one in histories_of(context, "first", ResultFilter()).runs] == [1]

    add_imports(context, "first", {"bikes": {3: "gold"}})
    with pytest.raises(AttemptsMissing, match="bikes seed 3"):
        histories_of(context, "first", ResultFilter())
    found = histories_of(context, "first", FAIL)
    assert [(one.seed, len(one.sent)) for one in found.runs] == [(1, 1), (2, 0), (3, 0)]
    assert found.missing == [
        MissingResult("bikes", 2, EXCLUDED), MissingResult("bikes", 3, WITHOUT_TIMES),
    ]  # fmt: skip
    ignoring = ResultFilter(padding=Padding.FAIL, reviews=Reviews.IGNORE)
    found = histories_of(context, "first", ignoring)
    assert [(one.seed, len(one.sent)) for one in found.runs] == [(1, 1), (2, 2), (3, 0)]


def test_a_flagged_competition_that_counts_as_failed_has_no_files(
    context: Context, bikes: VersionRecord
) -> None:
    flags = [{"code": "leaky", "note": "the answers are public"}]
    leaves = readable_version(context, "leaves", document={"flags": flags})
    for version in (bikes, leaves):
        closed_run(context, version, 1, {})

    failing = ResultFilter(exclude_flags=("leaky",), excluded=Excluded.FAIL)
    found = histories_of(context, "first", failing).runs
    assert [(one.competition, len(one.sent)) for one in found] == [("bikes", 1), ("leaves", 0)]


def test_archived_runs_and_later_files_are_left_out(context: Context, bikes: VersionRecord) -> None:
    closed_run(context, bikes, 1, {}, {}, closed_at=NOON + timedelta(hours=3))
    gone, _ = closed_run(context, bikes, 2, {})
    archive_it(context, ArchivalKind.RUN, gone.id)

    (found,) = histories_of(context, "first", ResultFilter()).runs
    assert len(found.sent) == 2
    assert len(histories_of(context, "first", ResultFilter(archived=True)).runs) == 2
    then = ResultFilter(basis=Basis(as_of=NOON + timedelta(hours=1.5)), archived=True)
    found = histories_of(context, "first", then).runs[0]
    assert [(one.at, one.selected) for one in found.sent] == [(1.0, True)]


def test_a_run_that_selected_a_rejected_file_is_invalid_from_its_time(
    context: Context, bikes: VersionRecord
) -> None:
    run, _ = closed_run(context, bikes, 1, {})
    bad = make_submission(run, state=SubmissionState.REJECTED, settled_at=NOON, run_seconds=1800.0)
    context.database.write(lambda session: add_submission(session, bad))
    context.database.write(lambda session: runs.update_run(session, run.id, selected_id=bad.id))

    (found,) = histories_of(context, "first", ResultFilter()).runs
    assert found.invalid_from == 0.5
    assert [(one.at, one.selected) for one in found.sent] == [(1.0, False)]
