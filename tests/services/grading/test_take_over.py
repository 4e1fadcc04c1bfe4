"""Servers that share a PostgreSQL: one dies, and another takes over what it was grading."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.states import SubmissionState
from app.services.grading.recovery import take_over
from app.services.grading.submission_claims import SubmissionClaims
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
def server(url: str, data_dir: Path) -> Iterator[Context]:
    """A server with a data directory of its own. When it ends, its connections do."""
    settings = Settings(data_dir=data_dir, database_url=url, grading_attempts=2)
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
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
            assert [one.kind for one in faults.faults_of(session, sent)] == ["worker_lost"]

        now = datetime.now(UTC)
        lives.database.write(lambda session: claim_built_in(session, "without a lock", 8, now))
        take_over(lives, frozenset({"without a lock"}))
        assert rows(lives, world) == [(SubmissionState.FAILED, 2)]


def test_what_a_live_server_is_grading_is_left_alone(url: str, tmp_path: Path) -> None:
    with server(url, tmp_path / "first") as first, server(url, tmp_path / "second") as second:
        world = make_world(first.database)
        world.submit()
        assert SubmissionClaims(first).claim(8)

        both = frozenset({first.instance, second.instance})
        assert take_over(second, both) == NOBODY
        assert take_over(first, both) == NOBODY
        assert rows(first, world) == [(SubmissionState.GRADING, 1)]
