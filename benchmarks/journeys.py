"""The files that a request passes through: how many modules of `app/` run for it in the server.

A profiler records the modules in which a function is called, in every thread of a server in this
process: the event loop, the threads of requests, the receiver of small files, the writer and the
grading loop. Threads that look for work by themselves would be counted in every journey. So they
look once an hour here, and else only when they are woken: the grading loop, that of regrades, the
threads of the grader slots, of receipts and of signals. The thread that reads results ahead is not
recorded. Modules that run in graders are not counted. `idle` is a window without a request.
"""

from __future__ import annotations

import io
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import app
from app.graders import grader_slot
from app.main import create_app
from app.settings import Settings
from app.worker import background, grading_loop
from benchmarks.in_process import serving
from tests.factories import good_submission, write_competition

PACKAGE = Path(app.__file__).parent
NOT_RECORDED = "result-reader"  # the thread that reads results ahead
NEVER = 3600.0  # seconds


class Recorder:
    """Collects the modules of `app/` in which a Python function is called."""

    def __init__(self) -> None:
        self._seen: set[str] | None = None

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        """Note a call, if something is being recorded."""
        if self._seen is None or event != "call":
            return
        if threading.current_thread().name != NOT_RECORDED:
            self._seen.add(frame.f_code.co_filename)

    @contextmanager
    def recording(self) -> Iterator[set[str]]:
        """The modules that run meanwhile."""
        files: set[str] = set()
        self._seen = set()
        try:
            yield files
        finally:
            seen, self._seen = self._seen, None
            files |= {one for one in seen if one.startswith(str(PACKAGE))}


def main() -> None:
    """Print how many modules each journey passes, and their names."""
    grading_loop.IDLE_SECONDS = grader_slot.PAUSE_SECONDS = NEVER
    background.RECEIPT_SECONDS = background.REVIEW_SECONDS = NEVER
    recorder = Recorder()
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    with tempfile.TemporaryDirectory() as home:
        empty = Path(home) / "competitions"
        empty.mkdir()
        keys: list[str | None] = []
        settings = Settings(data_dir=Path(home) / "data", competitions_dir=empty, graders=1)
        with serving(create_app(settings, keys.append)) as client:
            travel(recorder, client, str(keys[0]), Path(home))


def travel(recorder: Recorder, client: httpx.Client, admin: str, home: Path) -> None:
    """Make each journey once to warm up and once to count."""
    headers = {"Authorization": f"Bearer {admin}"}
    names = iter(f"tiny-{n}" for n in range(100))

    def folder() -> Path:
        return write_competition(home / "folders" / next(names))

    def send(made: Path) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            archive.add(made, arcname=made.name)
        files = {"archive": ("tiny.tar.gz", buffer.getvalue(), "application/gzip")}
        client.post("/v1/competitions", files=files, headers=headers).raise_for_status()

    first, second = folder(), folder()
    send(first)
    experiment = {"name": "e", "agent": "a", "model": "m"}
    client.post("/v1/experiments", json=experiment, headers=headers).raise_for_status()
    run = client.post(
        "/v1/runs", json={"experiment": "e", "competition": first.name, "seed": 0}, headers=headers
    ).json()
    agent = {"Authorization": f"Bearer {run['key']}", "Content-Type": "text/csv"}
    good = good_submission(first)

    def submit(prefer: str = "") -> None:
        more = {"Prefer": prefer} if prefer else {}
        path = f"/v1/runs/{run['id']}/submissions"
        client.post(path, content=good, headers={**agent, **more}).raise_for_status()

    def get(path: str, key: dict[str, str]) -> None:
        client.get(path, headers=key).raise_for_status()

    submit("wait=30")
    journeys: dict[str, Callable[[], None]] = {
        "idle": lambda: time.sleep(2.0),
        "a key is authenticated": lambda: get(f"/v1/runs/{run['id']}", agent),
        "a submission's bytes become a row, a grade and an answer": lambda: submit("wait=30"),
        "an experiment's name becomes a medal rate": lambda: get(
            "/v1/experiments/e/medal-rates?padding=fail", headers
        ),
        "a folder becomes a competition version": lambda: send(second),
    }
    for name, journey in journeys.items():
        with recorder.recording() as files:
            journey()
            time.sleep(0.3)  # what follows the answer
        shown = sorted(Path(one).relative_to(PACKAGE).as_posix() for one in files)
        print(f"{len(shown):3}  {name}")
        print("     " + " ".join(shown))


if __name__ == "__main__":
    main()
