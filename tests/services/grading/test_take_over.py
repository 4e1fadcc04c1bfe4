"""Servers that share a PostgreSQL: one dies, and another takes over what it was grading."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.graders.messages.results import GraderFault
from app.services.grading.recovery import take_over
from app.services.grading.submission_claims import SubmissionClaims
from app.services.grading.write_outcomes import FinishedGrading, write_outcomes
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.queries import submissions
from app.storage.queries.operation import faults
from tests.graders.conftest import wait_until
from tests.postgres import Postgres
from tests.storage.make import World, claim_built_in, make_world

NOBODY: frozenset[str] = frozenset()


@pytest.fixture
def url(postgres: Postgres, migrated_postgres: str) -> Iterator[str]:
    with postgres.emptied(migrated_postgres) as name:
        yield postgres.url(name)


@contextlib.contextmanager
def server(url: str, data_dir: Path, *, listens: bool = True) -> Iterator[Context]:
    """A server with a data directory of its own. When it ends, its connections do."""
    settings = Settings(data_dir=data_dir, database_url=url, grading_attempts=2)
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
        if listens:
            context.listen()
            wait_until(lambda: context.database.is_listening)
        yield context


def rows(context: Context, world: World) -> list[tuple[SubmissionState, int]]:
    """The state and the attempts of each submission of the world's run."""
    with context.database.read() as session:
        found = submissions.list_submissions(session, world.run.id, limit=9)
    return [(each.state, each.attempts) for each, _ in found]


def test_what_a_dead_server_was_grading_is_queued_again_and_in_the_end_failed(
    url: str, tmp_path: Path
) -> None:
    with server(url, tmp_path / "lives") as lives:
        world = make_world(lives.database)
        sent = world.submit().id
        with server(url, tmp_path / "dies") as dies:
            assert SubmissionClaims(dies).claim(8)
            gone = frozenset({dies.instance})
            assert take_over(lives, gone) == NOBODY
        wait_until(lambda: take_over(lives, NOBODY) == gone)
        assert rows(lives, world) == [(SubmissionState.GRADING, 1)]  # it may come back

        assert take_over(lives, gone) == gone
        assert rows(lives, world) == [(SubmissionState.QUEUED, 1)]
        assert take_over(lives, gone) == NOBODY
        with lives.database.read() as session:
            (fault,) = faults.list_faults(session, submission_id=sent, limit=9)
        assert fault.kind == "worker_lost"

        now = datetime.now(UTC)
        lives.database.write(lambda session: claim_built_in(session, "without a lock", 8, now))
        take_over(lives, frozenset({"without a lock"}))
        assert rows(lives, world) == [(SubmissionState.FAILED, 2)]


def test_an_outcome_that_is_just_being_written_is_no_lost_attempt(url: str, tmp_path: Path) -> None:
    with (
        server(url, tmp_path / "lives") as lives,
        server(url, tmp_path / "cut", listens=False) as cut,
    ):
        world = make_world(lives.database)
        sent = world.submit().id
        claimed = next(one for one in SubmissionClaims(cut).claim(8) or [] if one.id == sent)
        assert take_over(lives, NOBODY) == frozenset({cut.instance})
        is_written, may_commit = threading.Event(), threading.Event()

        def write(session: Session) -> None:
            fault = GraderFault("metric", "")
            finished = FinishedGrading(claimed, fault, "mae", datetime.now(UTC))
            assert write_outcomes(session, [finished], max_attempts=1) == [SubmissionState.FAILED]
            is_written.set()
            may_commit.wait(30)

        writing = cut.database.enqueue(write)
        assert is_written.wait(30)
        with ThreadPoolExecutor(1) as pool:
            looking = pool.submit(take_over, lives, frozenset({cut.instance}))
            waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            with psycopg.connect(url, autocommit=True) as connection:
                wait_until(lambda: connection.execute(waits).fetchone() == (1,))
            may_commit.set()
            writing.result()
            looking.result()

        with lives.database.read() as session:
            (fault,) = faults.list_faults(session, submission_id=sent, limit=9)
        assert fault.kind == "metric"


def test_what_a_live_server_is_grading_is_left_alone(url: str, tmp_path: Path) -> None:
    with server(url, tmp_path / "first") as first, server(url, tmp_path / "second") as second:
        world = make_world(first.database)
        world.submit()
        assert SubmissionClaims(first).claim(8)

        both = frozenset({first.instance, second.instance})
        assert take_over(second, both) == NOBODY
        assert take_over(first, both) == NOBODY
        assert rows(first, world) == [(SubmissionState.GRADING, 1)]
