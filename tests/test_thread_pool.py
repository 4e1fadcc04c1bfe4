"""Where the system gives no more threads, a pool does each call once, or refuses it for good."""

from __future__ import annotations

import threading

import pytest

from app.thread_pool import ThreadPool
from tests.system_limits import no_more_threads


def test_a_call_waits_for_a_thread_that_runs_if_no_other_can_be_started() -> None:
    done: list[str] = []
    may_end = threading.Event()
    with ThreadPool(4) as pool:
        pool.submit(may_end.wait, 60)
        with no_more_threads():
            waiting = pool.submit(done.append, "waited")
        may_end.set()

        waiting.result(60)

    assert done == ["waited"]


def test_a_call_that_was_refused_is_never_done() -> None:
    done: list[str] = []
    with ThreadPool(4) as pool:
        with no_more_threads(), pytest.raises(RuntimeError, match="can't start new thread"):
            pool.submit(done.append, "refused")

        pool.submit(done.append, "taken").result(60)

    assert done == ["taken"]
