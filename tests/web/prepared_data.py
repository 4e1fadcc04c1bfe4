"""The data for the tests of pages, made once for all processes of pytest; each serves a copy.

To make it takes 6 seconds of processor time, and a copy and a second start of the server 0.3.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from app.services.public_log.run_receipts import issue_late
from app.services.reviews.compute import Reviewer
from app.services.runtime.context import open_context
from app.settings import Settings
from tests.server import PodiumServer
from tests.web.dataset import Filled, fill, write_competitions


def start_filled(paths: pytest.TempPathFactory) -> Filled:
    """A server with the data, started on a copy of its own."""
    base = paths.getbasetemp()
    of_run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # of all processes
    prepared = of_run / "prepared-pages"
    with (of_run / "prepared-pages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (prepared / "filled.json").exists():
            shutil.rmtree(prepared, ignore_errors=True)  # another process may have broken off
            prepare(prepared)
    home = paths.mktemp("pages")
    shutil.copytree(prepared, home, dirs_exist_ok=True)
    values = json.loads((home / "filled.json").read_text())
    server = server_of(home).start()
    server.key = values["admin"]
    return Filled(server, **values, folders=[home / "folders" / slug for slug in values["slugs"]])


def prepare(home: Path) -> None:
    """Fill a server, stop it, and write down what the tests must know of its data.

    What servers sign and review by themselves some seconds later is done now, for it would change
    pages between two requests of a test.
    """
    folders = write_competitions(home / "folders")
    server = server_of(home).start()
    filled = fill(server, folders)
    assert server.stop() == 0
    with contextlib.closing(open_context(settings_of(home), grades=False, validates=False)) as made:
        while issue_late(made, looks_at_all=True):  # nothing, if the server took its time to stop
            pass
        reviewer = Reviewer(made, threading.Event())
        while reviewer.turn():
            pass
    known = {
        each.name: getattr(filled, each.name)
        for each in dataclasses.fields(filled)
        if each.name not in ("server", "folders")
    }
    (home / "filled.json").write_text(json.dumps(known))


def settings_of(home: Path) -> Settings:
    return Settings(
        data_dir=home / "data", database_url="", blobs_url="", competitions_dir=home / "folders"
    )


def server_of(home: Path) -> PodiumServer:
    return PodiumServer(
        home / "data", competitions_dir=home / "folders", public_boards="open, other"
    )
