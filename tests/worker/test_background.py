"""Background threads of a process whose database is away: what its operator reads."""

from __future__ import annotations

import contextlib
import logging
import threading
from pathlib import Path

import pytest

from app import logs
from app.logs import log_outage
from app.services.runtime.context import open_context
from app.settings import Settings
from app.worker.background import (
    run_garbage_collector,
    run_late_receipts,
    run_result_reader,
    run_reviewer,
    run_take_over,
)

THREADS = (
    run_garbage_collector, run_take_over, run_late_receipts, run_reviewer, run_result_reader,
)  # fmt: skip


class Turns(threading.Event):
    """Is set after some turns, which begin at once."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left

    def wait(self, timeout: float | None = None) -> bool:
        self.left -= 1
        if self.left < 0:
            self.set()
        return self.is_set()


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another test of this process may have told the same within a minute, and nothing forgets it.
    monkeypatch.setattr(logs, "_logged", {})


def test_a_database_that_is_away_is_one_line_of_each_thread(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"postgresql://podium@/podium?host={tmp_path}",
        database_patience_seconds=0.1, gc_hours=1,
    )  # fmt: skip
    context = open_context(settings, grades=False, validates=False)
    with contextlib.closing(context):
        for run in THREADS:
            caplog.clear()
            run(context, Turns(3))

            # Other threads log too: the writer, and one that another test has left.
            told = [each for each in caplog.records if each.thread == threading.get_ident()]
            assert [each.exc_info for each in told] == [None], run.__name__
            assert "the next turn" in told[0].getMessage()
            assert "No such file or directory" in vars(told[0])["why"]


def test_an_outage_is_logged_again_for_another_reason_and_after_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logging.getLogger("podium.test")
    for why in ("no answer in 5.01 s", "no answer in 5.02 s", "refused", "refused"):
        log_outage(log, "away", why, store="s3://x")
    assert [vars(each)["why"] for each in caplog.records] == ["no answer in 5.01 s", "refused"]

    monkeypatch.setattr(logs, "REMIND_SECONDS", 0.0)
    log_outage(log, "away", "refused")
    assert len(caplog.records) == 3
