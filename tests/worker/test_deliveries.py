"""Deliveries of the queue: what this worker cannot grade is given back, and no attempt counts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from app.domain.states import SubmissionState
from app.queue.consumer import Retry
from app.services.runtime import environment
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.records import SubmissionRecord
from app.storage.queries import submissions
from app.worker import deliveries
from app.worker.deliveries import Deliveries
from tests.storage.make import World, make_world

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)


@pytest.fixture
def context(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Context]:
    """A worker's process, without graders."""
    monkeypatch.setattr(deliveries, "FAILURE_PAUSE_SECONDS", 0)
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, dispatch="queue")
    opened = open_context(settings, grades=False, validates=False)
    environment.agree(opened.database)
    yield opened
    opened.close()


@pytest.fixture
def world(context: Context) -> World:
    return make_world(context.database)


def row(context: Context, submission_id: str) -> SubmissionRecord:
    with context.database.read() as session:
        found = submissions.get_submission(session, submission_id)
    assert found is not None
    return found[0]


def deliver(context: Context, submission_id: str, *, has_threads: bool = True) -> None:
    async def grade() -> None:
        if not has_threads:
            ended = ThreadPoolExecutor()
            ended.shutdown()
            asyncio.get_running_loop().set_default_executor(ended)
        await Deliveries(context, lambda refusal: None).grade(7, submission_id)

    asyncio.run(grade())


def test_an_error_between_claim_and_grading_gives_the_claim_back(
    context: Context, world: World
) -> None:
    sent = world.submit()

    with pytest.raises(Retry):
        deliver(context, sent.id, has_threads=False)

    after = row(context, sent.id)
    assert (after.state, after.attempts, after.claimed_by) == (SubmissionState.QUEUED, 0, None)


def test_a_claim_that_fails_for_an_odd_reason_is_tried_again_after_a_pause(
    context: Context, world: World
) -> None:
    sent = world.submit()
    rename = "ALTER TABLE submission RENAME COLUMN {} TO {}"
    context.database.write(
        lambda session: session.execute(text(rename.format("claimed_at", "odd"))).close()
    )
    try:
        with pytest.raises(Retry):
            deliver(context, sent.id)
    finally:
        context.database.write(
            lambda session: session.execute(text(rename.format("odd", "claimed_at"))).close()
        )

    assert row(context, sent.id).attempts == 0
