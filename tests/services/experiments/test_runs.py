"""How a run changes, also by two servers at once, and how it starts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.states import ArchivalKind, Role, RunState, SubmissionState
from app.errors import Conflict, NotFound, RunClosed
from app.services.auth import Caller
from app.services.experiments.archiving import archive
from app.services.experiments.runs import change, close_all, page, select, start
from app.services.runtime.context import Context
from app.storage.queries import runs
from app.storage.queries.trust import receipts
from tests.services.conftest import Meanwhile
from tests.services.submissions.conftest import readable_version
from tests.storage.make import NOON, World, add_run, add_submission, make_submission


def test_of_two_who_close_a_run_at_once_the_second_changes_nothing(
    servers: tuple[Context, Context], meanwhile: Meanwhile
) -> None:
    one, other = servers
    run = add_run(one.database, readable_version(one, "tiny"), "third")
    ended = meanwhile(
        runs,
        "update_run",
        lambda: change(other, run.id, close=True, usage={"b": 2}, failure=None),
    )
    first = change(one, run.id, close=True, usage={"a": 1}, failure=None)
    second = ended()

    assert first.closed_at == second.closed_at
    assert second.usage == {"a": 1, "b": 2}
    with one.database.read() as session:
        assert len(receipts.of_run(session, run.id)) == 1


def test_a_run_that_gets_a_file_or_is_closed_before_it_is_closed_has_no_failure(
    context: Context, here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = readable_version(context, "tiny")
    sends, ends, waits = (
        add_run(context.database, version, "third", seed=seed) for seed in range(3)
    )
    close_each = change

    def send_and_close(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr("app.services.experiments.runs.change", close_each)
        context.database.write(lambda session: add_submission(session, make_submission(sends)))
        close_each(context, ends.id, close=True, usage=None, failure=None)
        return close_each(*given, **options)

    monkeypatch.setattr("app.services.experiments.runs.change", send_and_close)
    close_all(context, "third", "agent_error")

    with context.database.read() as session:
        found = runs.list_runs(session, experiment="third", limit=None)
    assert {run.id: run.failure for run in found} == {
        sends.id: None, ends.id: None, waits.id: "agent_error",
    }  # fmt: skip
    assert {run.state for run in found} == {RunState.CLOSED}


def test_archived_runs_are_closed_with_their_experiment(context: Context, here: World) -> None:
    run = add_run(context.database, readable_version(context, "tiny"), "third")
    archive(context, ArchivalKind.RUN, run.id, "a mistake", by=None)

    assert close_all(context, "third", None) == [run.id]
    with pytest.raises(NotFound):
        close_all(context, "thrid", None)


def test_a_run_may_choose_a_file_of_which_it_does_not_know_yet_that_it_was_rejected(
    context: Context, here: World
) -> None:
    step = context.settings.model_copy(update={"outcome_step_seconds": 60.0})
    later, now = replace(context, settings=step), datetime.now(UTC)
    state = SubmissionState.REJECTED
    sent = make_submission(here.run, state=state, received_at=now, settled_at=now)
    context.database.write(lambda session: add_submission(session, sent))

    with pytest.raises(Conflict, match="was rejected"):
        select(later, Caller(Role.ADMIN, "key_1"), here.run.id, sent.id)
    agent = Caller(Role.RUN, "key_2", run_id=here.run.id)
    assert select(later, agent, here.run.id, sent.id).selected_id == sent.id


def test_a_change_leaves_what_it_does_not_name(context: Context) -> None:
    run = add_run(context.database, readable_version(context, "tiny"), "third")
    context.database.write(lambda session: add_submission(session, make_submission(run)))

    spent = change(context, run.id, close=False, usage={"a": 1}, failure=None)
    assert (spent.state, spent.usage, spent.failure) == (RunState.OPEN, {"a": 1}, None)
    failed = change(context, run.id, close=False, usage=None, failure="agent_error")
    assert (failed.state, failed.failure) == (RunState.OPEN, "agent_error")
    closed = change(context, run.id, close=True, usage={"b": 2}, failure=None)
    assert (closed.state, closed.failure) == (RunState.CLOSED, "agent_error")
    assert closed.usage == {"a": 1, "b": 2}
    again = change(
        context, run.id, close=True, usage=None, failure="connection", if_nothing_sent=True
    )
    assert again == closed
    with pytest.raises(NotFound):
        change(context, "run_nobody", close=True, usage=None, failure=None)


def test_the_failure_of_a_closed_run_changes_with_its_receipt(context: Context) -> None:
    run = add_run(context.database, readable_version(context, "tiny"), "third")
    change(context, run.id, close=True, usage=None, failure=None)

    assert change(context, run.id, close=False, usage=None, failure="crash").failure == "crash"
    with context.database.read() as session:
        stored = runs.get_run(session, run.id)
        signed = [one.statement for one in receipts.of_run(session, run.id)]
    assert stored is not None
    assert (stored.failure, len(signed)) == ("crash", 2)


def test_a_final_submission_is_one_of_the_open_run(context: Context, here: World) -> None:
    admin = Caller(Role.ADMIN, "key_1")
    sent, others = here.submit(), make_submission(here.other_run)
    context.database.write(lambda session: add_submission(session, others))

    for wrong in ("sub_nothing", others.id):
        with pytest.raises(NotFound, match=f"has no submission '{wrong}'"):
            select(context, admin, here.run.id, wrong)
    assert select(context, admin, here.run.id, sent.id).selected_id == sent.id
    context.database.write(
        lambda session: runs.update_run(session, here.run.id, state=RunState.CLOSED, closed_at=NOON)
    )
    with pytest.raises(RunClosed, match="is closed: its final submission cannot change"):
        select(context, admin, here.run.id, sent.id)


def test_a_runs_key_lists_its_run_where_that_is_asked_for(context: Context, here: World) -> None:
    agent = Caller(Role.RUN, "key_2", run_id=here.run.id)

    def listed(**asked: Any) -> list[str]:
        given = {"experiment": None, "competition": None, "after": None, "limit": 9, **asked}
        found, cursor = page(context, agent, **given)
        assert cursor is None
        return [run.id for run in found]

    run = here.run
    own = {"experiment": run.experiment, "competition": run.competition, "state": run.state}
    assert listed() == listed(**own) == [run.id]
    for name, other in (("experiment", "x"), ("competition", "x"), ("state", RunState.CLOSED)):
        assert listed(**{**own, name: other}) == []
    assert listed(after=run.id) == []


def test_the_clock_of_a_run_that_was_closed_before_does_not_start(
    context: Context, here: World
) -> None:
    agent = Caller(Role.RUN, "key_2", run_id=here.run.id)
    started = start(context, agent, here.run.id)
    assert started.started_at is not None
    assert start(context, agent, here.run.id) == started
    closed = add_run(context.database, here.version, "first", seed=9, state=RunState.CLOSED,
                     closed_at=NOON)  # fmt: skip
    with pytest.raises(RunClosed, match="was closed before it started"):
        start(context, Caller(Role.ADMIN, "key_1"), closed.id)
