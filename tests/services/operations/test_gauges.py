"""What a scrape reads: the open submissions by state and size, and a database that is away."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import isnan

import pytest
from prometheus_client import REGISTRY

from app.domain.states import SubmissionState
from app.queue.sizes import MEDIUM_BELOW, SMALL_BELOW
from app.services.operations.gauges import count_consumers, measure, resident_bytes
from app.services.runtime.context import Context
from app.storage.database.database import Database
from tests.storage.make import World


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"podium_{name}", labels)


def test_open_submissions_are_counted_by_state_and_size(context: Context, here: World) -> None:
    """Another run has a small one in the queue."""
    for size in (SMALL_BELOW - 1, SMALL_BELOW, MEDIUM_BELOW - 1, MEDIUM_BELOW):
        here.submit(bytes=size)
    here.submit(bytes=MEDIUM_BELOW, state=SubmissionState.GRADING)
    now = datetime.now(UTC)
    here.submit(state=SubmissionState.GRADED, settled_at=now)

    measure(context)

    sizes = ("small", "medium", "large")
    found = {
        state: [value("submissions_open", state=state, size=size) for size in sizes]
        for state in ("queued", "grading")
    }
    assert found == {"queued": [2, 2, 1], "grading": [0, 0, 1]}
    assert (value("submissions_queued"), value("database_up")) == (5, 1)
    assert (value("queue_consumers"), count_consumers(context)) == (0, 0)


@pytest.mark.parametrize(("ahead", "age"), [(-60, 60), (60, 0)])
def test_the_oldest_waits_since_it_came_and_never_less_than_nothing(
    context: Context, here: World, ahead: int, age: int
) -> None:
    received_at = datetime.now(UTC) + timedelta(seconds=ahead)
    here.submit(id="sub_0", received_at=received_at)

    measure(context)
    assert value("oldest_queued_seconds") == pytest.approx(age, abs=30)


def test_nothing_is_said_of_a_queue_whose_database_is_away(context: Context, here: World) -> None:
    measure(context)
    assert value("submissions_queued") == 1
    away = Database(f"sqlite:///{context.settings.data_dir}/no-folder/podium.db")
    measure(replace(context, database=away))
    away.close()

    assert value("database_up") == 0
    for name in ("submissions_queued", "oldest_queued_seconds", "queue_consumers"):
        found = value(name)
        assert found is not None
        assert isnan(found)
    assert value("submissions_open", state="queued", size="small") is None


def test_the_memory_of_a_process_is_in_bytes_and_that_of_an_ended_one_unknown() -> None:
    found = resident_bytes(os.getpid())
    assert found is not None
    assert 10 << 20 < found < 10 << 30
    assert resident_bytes(2**22 + 1) is None  # more than a Linux counts to
