"""Which runs count in success rates, and what is said where none does."""

from __future__ import annotations

import pytest

from app.domain.result_choices import Baselines, Excluded, Padding, SuccessGroupBy
from app.domain.states import ArchivalKind
from app.errors import Conflict, Invalid
from app.services.regrades.apply import apply
from app.services.results.inputs.scope import ResultFilter
from app.services.results.missing_results import BaselinesMissing
from app.services.results.success_rates import SuccessResults, SuccessScope, success
from app.services.runtime.context import Context
from tests.services.regrades.test_apply import regraded
from tests.services.results.make import archive_it, closed_run
from tests.services.results.test_competition_results import BASELINE as RUN_BASELINE
from tests.services.submissions.conftest import TOML, readable_version
from tests.storage.make import NOON, add_run


def test_runs_at_flagged_competitions_are_left_out_or_count_as_failed(context: Context) -> None:
    flags = {"flags": [{"code": "leaky", "note": "the answers are public"}]}
    document = {**flags, "tags": ["b", "a"], "category": "image"}
    leaves = readable_version(context, "leaves", TOML + RUN_BASELINE, document=document)
    bikes = readable_version(context, "bikes", TOML + RUN_BASELINE)
    for version in (leaves, bikes):
        closed_run(context, version, 1, {"score": 2.0}, failure="crash")
        closed_run(context, version, 2, {"score": 2.0}, state="open", closed_at=None)

    def found(excluded: Excluded, by: SuccessGroupBy | None = None) -> SuccessResults:
        filters = ResultFilter(exclude_flags=("leaky",), excluded=excluded)
        return success(context, "first", SuccessScope(filters), by)

    dropped, failed = found(Excluded.DROP), found(Excluded.FAIL)
    assert (dropped.competitions, failed.competitions) == (("bikes",), ("bikes", "leaves"))
    assert (dropped.flags, failed.flags) == ((), (("leaves", "leaky", flags["flags"][0]["note"]),))
    assert dropped.excluded == failed.excluded == ("leaves",)
    rates = [one.groups["all"].success_rate for one in (dropped, failed)]
    assert [rate and rate.mean for rate in rates] == [100.0, 50.0]
    assert (dropped.open, failed.open) == (1, 1)
    assert (dropped.failures, failed.failures) == ({"crash": 1}, {"crash": 2})
    assert [one.competition for one in dropped.baselines] == ["bikes"]
    both = ("bikes", "leaves")
    by_category, by_tag = (
        found(Excluded.FAIL, by).members for by in (SuccessGroupBy.CATEGORY, SuccessGroupBy.TAG)
    )
    assert by_category == {"image": ["leaves"], "all": both}
    assert list(by_tag.items()) == [
        ("a", ["leaves"]), ("b", ["leaves"]), ("tabular", ["bikes"]), ("all", both),
    ]  # fmt: skip


def test_a_run_without_a_baseline_is_refused_where_each_must_have_one(context: Context) -> None:
    closed_run(context, readable_version(context, "bikes"), 1, {"score": 2.0})
    with pytest.raises(BaselinesMissing):
        success(context, "first", SuccessScope(ResultFilter()), None)


def test_what_cannot_be_judged_is_said(context: Context) -> None:
    bikes = readable_version(context, "bikes", TOML + RUN_BASELINE)
    closed_run(context, bikes, 1, state="open", closed_at=None)
    with pytest.raises(Conflict, match="counted against a baseline: bikes: the run is open"):
        asked(context, ResultFilter(padding=Padding.AVAILABLE))
    closed_run(context, readable_version(context, "leaves"), 1, {"score": 2.0})
    archive_it(context, ArchivalKind.COMPETITION, "bikes")
    with pytest.raises(Conflict, match="'first' here can be counted against a baseline: it has n"):
        asked(context, ResultFilter(padding=Padding.AVAILABLE))
    with pytest.raises(Invalid, match="no_such_flag"):
        asked(context, ResultFilter(exclude_flags=("no_such_flag",)))


def test_missing_results_fail_where_that_is_asked_and_regrades_are_named(context: Context) -> None:
    bikes = readable_version(context, "bikes", TOML + RUN_BASELINE)
    closed_run(context, bikes, 1, {"score": 2.0}, failure="none")
    closed_run(context, bikes, 2, state="open", closed_at=None)
    available, fail = (
        asked(context, ResultFilter(padding=padding))
        for padding in (Padding.AVAILABLE, Padding.FAIL)
    )
    assert [one.groups["all"].runs for one in (available, fail)] == [1, 2]
    rates = [one.groups["all"].success_rate for one in (available, fail)]
    assert [one and one.mean for one in rates] == [100.0, 50.0]
    assert (available.failures, available.regrades) == ({}, ())

    regrade = regraded(context, 2.0)
    apply(context, regrade.id, reason="mended", by=None)
    leaves = readable_version(context, "leaves", TOML + RUN_BASELINE)
    add_run(context.database, leaves, "second", state="closed", closed_at=NOON)
    found = asked(context, ResultFilter(padding=Padding.AVAILABLE))
    assert [one.id for one in found.regrades] == [regrade.id]
    second = SuccessScope(ResultFilter(), baselines=Baselines.KNOWN)
    assert success(context, "second", second, None).regrades == ()


def asked(context: Context, filters: ResultFilter) -> SuccessResults:
    return success(context, "first", SuccessScope(filters, baselines=Baselines.KNOWN), None)
