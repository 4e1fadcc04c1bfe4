"""Reviews of several servers: one of two alike files has the signal, whatever comes when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.grading.graded import Sketch
from app.review.signals import Signal
from app.services.reviews import compute
from app.services.reviews.compute import Reviewer
from app.services.reviews.decide import add_known_leak
from app.services.runtime.context import Context
from app.storage.database.database import Database
from app.storage.queries.reviews import known_leaks, signals, sketches
from tests.services.conftest import Meanwhile
from tests.services.submissions.conftest import readable_version
from tests.storage.make import (
    World,
    add_grade,
    add_run,
    make_grade,
    make_submission,
)
from tests.storage.sketches import graded, sketch

EQUAL = sketch()
NEAR = Sketch(1000, b"\1" * 256, sketch(1e-4).cells)
OTHER = Sketch(1000, b"\2" * 256, sketch(0.5).cells)
pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"])


@pytest.fixture
def reviewers(
    servers: tuple[Context, Context], monkeypatch: pytest.MonkeyPatch
) -> tuple[Reviewer, Reviewer]:
    """Those of two servers. A turn has one file: they are many in use."""
    monkeypatch.setattr(compute, "SUBMISSIONS_PER_TURN", 1)
    one, other = (Reviewer(server, threading.Event()) for server in servers)
    return one, other


@pytest.fixture
def tiny(servers: tuple[Context, Context]) -> World:
    """A competition that can be read, and a run."""
    one, _ = servers
    version = readable_version(one, "tiny")
    run = add_run(one.database, version, "late")
    return World(one.database, version, run, run)


@contextmanager
def uncommitted(world: World, made: Sketch, database_url: str) -> Iterator[Callable[[], None]]:
    """A graded file of the run `late` whose number is given now; the function commits it."""
    sent = world.submit()
    world.database.write(lambda session: add_grade(session, make_grade(sent)))
    begun, may_end = threading.Event(), threading.Event()

    def store(session: Session) -> None:
        sketches.add_all(session, [(sent.id, world.version.id, made)])
        begun.set()
        assert may_end.wait(30)

    database = Database(database_url)
    stored: Future[None] = database.enqueue(store)
    assert begun.wait(30)

    def commit() -> None:
        may_end.set()
        stored.result(30)

    yield commit
    database.close()


def flagged(world: World) -> set[str]:
    """The experiments with a signal that a file is like another."""
    like = {Signal.SAME_FILE, Signal.SAME_PREDICTIONS}
    with world.database.read() as session:
        found = session.execute(
            select(signals.RUN.c.experiment)
            .join(signals.TABLE, signals.TABLE.c.run_id == signals.RUN.c.id)
            .where(signals.TABLE.c.signal.in_(like))
        )
        return set(found.scalars())


@pytest.mark.parametrize("made", [EQUAL, NEAR])
def test_of_two_files_that_two_servers_look_at_at_once_one_gets_the_signal(
    reviewers: tuple[Reviewer, Reviewer],
    tiny: World,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    made: Sketch,
) -> None:
    one, other = reviewers
    compute_signals = Reviewer.signals_or_none

    with uncommitted(tiny, made, database_url) as commit:
        graded(tiny, "early", EQUAL)

        def computed_slowly(self: Reviewer, *given: Any) -> Any:
            computed = compute_signals(self, *given)
            monkeypatch.setattr(Reviewer, "signals_or_none", compute_signals)
            commit()
            assert other.turn() == 1
            return computed

        monkeypatch.setattr(Reviewer, "signals_or_none", computed_slowly)
        while one.turn() or other.turn():
            pass

    assert flagged(tiny) == {"early"}


def test_of_two_files_that_are_committed_in_another_order_one_gets_the_signal(
    reviewers: tuple[Reviewer, Reviewer], tiny: World, database_url: str
) -> None:
    one, _ = reviewers
    graded(tiny, "first", OTHER)
    with uncommitted(tiny, NEAR, database_url) as commit:
        graded(tiny, "early", EQUAL)
        assert one.turn() == 1  # reads the file of `early` and looks at that of `first`
        commit()
    while one.turn():
        pass
    assert flagged(tiny) == {"early"}


def test_a_file_that_is_listed_while_it_is_looked_at_gets_the_signal(
    reviewers: tuple[Reviewer, Reviewer],
    servers: tuple[Context, Context],
    tiny: World,
    meanwhile: Meanwhile,
) -> None:
    """The one who listed it did not find it yet, and the reviewer did not find the list."""

    def send_and_review() -> int:
        graded(replace(tiny, database=servers[1].database), "sender", EQUAL)
        return reviewers[1].turn()

    digest = make_submission(tiny.run).sha256
    ended = meanwhile(known_leaks, "sent", send_and_review)
    assert add_known_leak(servers[0], "tiny", digest, "a forum", by=None)[1] == 0
    assert ended() == 1
    with tiny.database.read() as session:
        found = session.execute(select(signals.TABLE.c.signal)).scalars().all()
    assert found == [Signal.KNOWN_LEAK]


def test_of_two_files_of_which_one_is_committed_when_a_turn_has_begun_one_gets_the_signal(
    reviewers: tuple[Reviewer, Reviewer],
    tiny: World,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, _ = reviewers
    read_facts = Reviewer.facts_of
    with uncommitted(tiny, EQUAL, database_url) as commit:
        graded(tiny, "early", EQUAL)

        def facts_slowly(self: Reviewer, version_id: int) -> Any:
            commit()
            return read_facts(self, version_id)

        monkeypatch.setattr(Reviewer, "facts_of", facts_slowly)
        while one.turn():
            pass
    assert flagged(tiny) == {"early"}
