"""Reports of researchers are parsed as one document each: one is in memory at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from app.importers.json_text import MOST_VALUES
from tests.api.conftest import Podium

MEGABYTE = 1024 * 1024
AT_ONCE = 6
EMPTY = b"[" + b"[]," * (MOST_VALUES - 1) + b"1]"


@pytest.mark.parametrize("path", ["grading-reports", "mlagentbench-results?competition={slug}"])
def test_reports_that_come_together_are_read_one_after_the_other(podium: Podium, path: str) -> None:
    experiment, key = podium.experiment(), podium.researcher_key()
    path = path.format(slug=podium.competition().name)
    process = psutil.Process(podium.server.process.pid)
    before, peak, is_done = process.memory_info().rss, 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not is_done.wait(0.02):
            peak = max(peak, process.memory_info().rss)

    def send(_: int) -> int:
        with httpx.Client(
            base_url=podium.server.url, headers={"Authorization": f"Bearer {key}"}, timeout=120
        ) as client:
            headers = {"Content-Type": "application/json"}
            address = f"/v1/experiments/{experiment}/{path}"
            return client.post(address, content=EMPTY, headers=headers).status_code

    with ThreadPoolExecutor(AT_ONCE + 1) as threads:
        watching = threads.submit(watch)
        try:
            answers = list(threads.map(send, range(AT_ONCE)))
        finally:
            is_done.set()
        watching.result()

    assert answers == [422] * AT_ONCE
    assert peak - before < 600 * MEGABYTE  # all at once took more than twice as much
