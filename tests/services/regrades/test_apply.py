"""A regrade is applied if it is ready, complete and takes no result away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.states import RegradeState, SubmissionState
from app.errors import Conflict, Invalid, NotFound
from app.graders.messages.results import GraderFault
from app.services.experiments.runs import listed_runs
from app.services.receipts import log_view
from app.services.regrades import apply as apply_module
from app.services.regrades.apply import RegradeHasFaults, RegradeNotReady, apply
from app.services.regrades.difference import summary
from app.services.regrades.regrade_claims import RegradeClaims
from app.services.runtime.context import Context
from app.storage.queries.regrades.regrades import RegradeRecord
from tests.services.conftest import Meanwhile
from tests.services.regrades.make import graded, new_grade, started, stored
from tests.storage.make import World


def regraded(context: Context, score: float = 0.75, *, fails: bool = False) -> RegradeRecord:
    """A regrade that is ready, with this score for each submission."""
    one = started(context)
    settle_all(context, score, fails=fails)
    found = stored(context, one.id)
    assert found.state is RegradeState.READY
    return found


def settle_all(context: Context, score: float, *, fails: bool) -> None:
    """Grade what the running regrades have left."""
    claims = RegradeClaims(context)
    while claimed := claims.claim(99, ()):
        for each in claimed:
            given = GraderFault("crashed") if fails else new_grade(score)
            claims.write(each, given, "m").result()
    context.database.write(lambda session: None)


def test_an_applied_regrade_supersedes_the_one_before(
    context: Context, here: World, admin: str
) -> None:
    graded(here)
    first, second = regraded(context), regraded(context, 0.25)

    applied = apply(context, first.id, reason="mended", by=admin)
    assert (applied.state, applied.decided_by, applied.replaces) == (
        RegradeState.APPLIED, admin, None,
    )  # fmt: skip
    assert applied.summary is not None
    assert applied.summary["submissions"]["submissions"] == 1
    apply(context, second.id, reason="mended again", by=None)

    assert stored(context, second.id).replaces == first.id
    # The time of its entry, which is after that of every receipt whatever the clock says.
    last = log_view.entries(context, 0, 99)[-1]
    assert last.kind == "regrade"
    assert stored(context, second.id).applied_at == last.at
    assert stored(context, first.id).superseded_at == last.at
    with pytest.raises(RegradeNotReady, match="is applied"):
        apply(context, second.id, reason="again", by=None)


def test_a_regrade_that_runs_or_has_one_submission_is_not_applied(
    context: Context, here: World
) -> None:
    sent = graded(here)
    running, single = started(context), started(context, submission_id=sent.id)

    with pytest.raises(RegradeNotReady, match="is running"):
        apply(context, running.id, reason="x", by=None)
    with pytest.raises(RegradeNotReady, match="one submission only"):
        apply(context, single.id, reason="x", by=None)
    with pytest.raises(NotFound):
        apply(context, "rgr_none", reason="x", by=None)


def test_submissions_settled_since_are_graded_first(context: Context, here: World) -> None:
    graded(here)
    one = regraded(context)
    graded(here)

    with pytest.raises(RegradeNotReady, match="settled since"):
        apply(context, one.id, reason="x", by=None)

    assert stored(context, one.id).state is RegradeState.RUNNING


def test_a_fault_removes_no_result(context: Context, here: World) -> None:
    graded(here)
    one = regraded(context, fails=True)

    with pytest.raises(RegradeHasFaults) as refused:
        apply(context, one.id, reason="x", by=None)

    assert refused.value.extensions["failed"] == 1
    assert stored(context, one.id).state is RegradeState.READY


def test_a_blank_reason_is_refused(context: Context, here: World) -> None:
    graded(here)
    one = regraded(context)

    with pytest.raises(Invalid, match="reason"):
        apply(context, one.id, reason=" ", by=None)

    assert stored(context, one.id).state is RegradeState.READY


def test_what_was_graded_while_the_difference_was_computed_is_looked_at_first(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apply_and_grade(regrade: str) -> None:
        with pytest.raises(RegradeNotReady, match="settled since"):  # another admin, meanwhile
            apply(context, regrade, reason="mended", by=None)
        settle_all(context, 0.75, fails=True)

    one = settled_meanwhile(context, here, monkeypatch, apply_and_grade)
    with pytest.raises(RegradeNotReady, match="graded more submissions meanwhile"):
        apply(context, one.id, reason="mended", by=None)

    assert stored(context, one.id).state is RegradeState.READY
    with pytest.raises(RegradeHasFaults):
        apply(context, one.id, reason="mended", by=None)


def test_what_is_settled_while_the_difference_is_computed_is_graded_first(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = settled_meanwhile(context, here, monkeypatch)
    with pytest.raises(RegradeNotReady, match="settled meanwhile: apply"):
        apply(context, one.id, reason="mended", by=None)
    assert stored(context, one.id).state is RegradeState.READY
    with pytest.raises(RegradeNotReady, match="settled since"):
        apply(context, one.id, reason="mended", by=None)
    settle_all(context, 0.75, fails=False)

    applied = apply(context, one.id, reason="mended", by=None)
    assert applied.summary is not None
    assert applied.summary["submissions"]["submissions"] == 2


def settled_meanwhile(
    context: Context,
    here: World,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[str], None] = lambda regrade: None,
) -> RegradeRecord:
    """A ready regrade; a live submission is settled once its difference is computed, then `act`."""
    graded(here)
    one, compute = regraded(context), summary

    def slow_summary(*given: Any) -> dict[str, Any]:
        difference = compute(*given)
        monkeypatch.setattr(apply_module, "summary", compute)
        graded(here)
        act(one.id)
        return difference

    monkeypatch.setattr(apply_module, "summary", slow_summary)
    return one


def test_of_two_that_are_applied_at_once_one_is_in_force(
    servers: tuple[Context, Context], world: World, meanwhile: Meanwhile
) -> None:
    one, other = servers
    graded(world)
    first, second = regraded(one), regraded(one, 0.25)
    ended = meanwhile(
        apply_module,
        "append_log_entry",
        lambda: apply(other, second.id, reason="mended", by=None),
    )
    apply(one, first.id, reason="mended", by=None)
    with pytest.raises(Conflict, match="Another regrade"):
        ended()

    assert stored(one, first.id).state is RegradeState.APPLIED
    assert stored(one, second.id).state is RegradeState.READY


def test_the_numbers_of_a_runs_submissions_rest_on_the_regrade(
    context: Context, here: World
) -> None:
    for state in (SubmissionState.FAILED, SubmissionState.QUEUED):
        here.submit(state=state)
    before = listed_runs(context, None, None, None)[0]["submissions"]
    one = regraded(context)
    apply(context, one.id, reason="mended", by=None)

    after = listed_runs(context, None, None, None)[0]["submissions"]
    assert (before, after) == ({"failed": 1, "queued": 1}, {"graded": 1, "queued": 1})
