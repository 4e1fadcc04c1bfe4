"""Decisions about runs: each ends the one before, and each is an entry of the public log."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, update

from app.domain.states import ReviewDecision
from app.errors import Conflict, Invalid, NotFound
from app.review.signals import Signal
from app.services.reviews.decide import add_known_leak, decide, remove_known_leak
from app.services.reviews.show import QueueFilter, page
from app.services.runtime.context import Context
from app.storage.queries.reviews import decisions, signals
from app.storage.queries.trust import log
from tests.storage.make import World

SHA256 = "0123456789abcdef" * 4  # of the submissions that `World.submit` makes


def excluded(context: Context) -> tuple[str, ...]:
    with context.database.read() as session:
        return decisions.excluded_ids(session)


def entries(context: Context) -> list[tuple[str, dict[str, object]]]:
    with context.database.read() as session:
        leaves = [json.loads(one.leaf) for one in log.all_entries(session)]
    return [(one["kind"], one) for one in leaves]


def test_only_the_last_decision_holds(context: Context, here: World, admin: str) -> None:
    run = here.run.id
    decide(context, run, ReviewDecision.EXCLUDE, "copied", by=admin)
    assert excluded(context) == (run,)

    decide(context, run, ReviewDecision.ACCEPT, "it was its own file", by=None)
    assert excluded(context) == ()
    decide(context, run, ReviewDecision.ANNOTATE, "looked at", by=None)
    assert excluded(context) == ()
    with context.database.read() as session:
        assert [one.reason for one in decisions.of_run(session, run)] == [
            "copied", "it was its own file", "looked at",
        ]  # fmt: skip


def test_each_decision_is_logged_with_its_reason(context: Context, here: World, admin: str) -> None:
    for decision in ReviewDecision:
        decide(context, here.run.id, decision, f"why {decision.value}", by=admin)

    logged = [(kind, json.dumps(body)) for kind, body in entries(context)]
    kinds = [kind for kind, _ in logged if kind in ("inclusion", "exclusion", "annotation")]
    assert sorted(kinds) == ["annotation", "exclusion", "inclusion"]


def test_a_reason_and_a_note_have_2000_characters_also_by_a_command(
    context: Context, here: World
) -> None:
    """They were bounded over HTTP alone, and the public log keeps them for good."""
    slug, longest = here.run.competition, "x" * 2000
    refused = r"{}: it has 2,001 characters; write at most 2,000\."
    with pytest.raises(Invalid, match=refused.format("reason")):
        decide(context, here.run.id, ReviewDecision.EXCLUDE, longest + "x", by=None)
    with pytest.raises(Invalid, match=refused.format("note")):
        add_known_leak(context, slug, SHA256, longest + "x", by=None)
    with pytest.raises(Invalid, match="note: it is empty"):
        add_known_leak(context, slug, SHA256, " ", by=None)
    assert entries(context) == []

    assert decide(context, here.run.id, ReviewDecision.EXCLUDE, longest, by=None).reason == longest
    assert add_known_leak(context, slug, SHA256, longest, by=None)[0].note == longest


def test_the_same_decision_again_is_refused_and_not_logged(context: Context, here: World) -> None:
    decide(context, here.run.id, ReviewDecision.EXCLUDE, "copied", by=None)
    before = len(entries(context))

    with pytest.raises(Conflict, match="holds already"):
        decide(context, here.run.id, ReviewDecision.EXCLUDE, "copied", by=None)
    decide(context, here.run.id, ReviewDecision.EXCLUDE, "copied, and said so", by=None)

    assert len(entries(context)) == before + 1


def test_blank_reasons_and_unknown_runs_change_nothing(context: Context, here: World) -> None:
    for reason in ("", " \n\t"):
        with pytest.raises(Invalid, match="reason"):
            decide(context, here.run.id, ReviewDecision.EXCLUDE, reason, by=None)
    with pytest.raises(NotFound, match="There is no run 'run_x'"):
        decide(context, "run_x", ReviewDecision.EXCLUDE, "copied", by=None)

    assert (excluded(context), entries(context)) == ((), [])


def test_a_listed_leak_marks_what_was_sent_before(context: Context, here: World) -> None:
    first, _ = here.submit(), here.submit()
    here.submit(sha256="f" * 64)

    leak, marked = add_known_leak(context, here.run.competition, SHA256, "from a forum", by=None)

    assert (leak.sha256, marked) == (SHA256, 2)  # the same bytes at another competition are not
    with context.database.read() as session:
        found = signals.of_run(session, here.run.id)
        assert signals.of_run(session, here.other_run.id) == []
    # Of each kind and level a run keeps the first.
    assert [(one.signal, one.submission_id) for one in found] == [(Signal.KNOWN_LEAK, first.id)]
    with pytest.raises(Conflict, match="already"):
        add_known_leak(context, here.run.competition, SHA256, "again", by=None)
    remove_known_leak(context, here.run.competition, SHA256, by=None)
    with pytest.raises(NotFound):
        remove_known_leak(context, here.run.competition, SHA256, by=None)


def test_listed_and_removed_leaks_are_in_the_public_log(
    context: Context, here: World, admin: str
) -> None:
    slug, by = here.run.competition, admin
    add_known_leak(context, slug, SHA256, "from a forum", by=by)
    with pytest.raises(Conflict):
        add_known_leak(context, slug, SHA256, "again", by=by)
    remove_known_leak(context, slug, SHA256, by=by)
    with pytest.raises(NotFound):
        remove_known_leak(context, slug, SHA256, by=by)

    with context.database.read() as session:
        found = [json.loads(one.record or "") for one in log.all_entries(session)]
    own = [(one["kind"], one["competition"], one["file"], one["by"]) for one in found[1:]]
    assert own == [("leak", slug, SHA256, by), ("delisting", slug, SHA256, by)]
    assert found[1]["note"] == "from a forum"


@pytest.mark.parametrize("wrong", ["", "f" * 63, "F" * 64, "g" * 64, "f" * 65])
def test_a_leak_needs_a_digest(context: Context, here: World, wrong: str) -> None:
    with pytest.raises(Invalid, match="sha256"):
        add_known_leak(context, here.run.competition, wrong, "x", by=None)
    with pytest.raises(NotFound):
        add_known_leak(context, "nowhere", SHA256, "x", by=None)


def test_a_decision_counts_for_signals_of_a_clock_that_was_ahead(
    context: Context, here: World
) -> None:
    run = here.run.id
    here.submit()
    add_known_leak(context, here.run.competition, SHA256, "from a forum", by=None)
    ahead = update(signals.TABLE).values(at=datetime.now(UTC) + timedelta(hours=1))
    context.database.write(lambda session: session.execute(ahead).close())

    decide(context, run, ReviewDecision.EXCLUDE, "leaked", by=None)
    assert page(context, QueueFilter(), None, None)[0] == []
    decide(context, run, ReviewDecision.ACCEPT, "it was its own file", by=None)

    assert page(context, QueueFilter(), None, None)[0] == []
    with context.database.read() as session:
        first, second = decisions.of_run(session, run)
    assert first.superseded_at == second.at >= first.at
    here.submit(sha256="f" * 64)
    add_known_leak(context, here.run.competition, "f" * 64, "another", by=None)
    assert page(context, QueueFilter(), None, None)[0] == []  # of each kind a run keeps the first
    context.database.write(lambda session: session.execute(delete(signals.TABLE)).close())
    remove_known_leak(context, here.run.competition, SHA256, by=None)
    add_known_leak(context, here.run.competition, SHA256, "found again", by=None)
    assert len(page(context, QueueFilter(), None, None)[0]) == 1
