"""Workers that adopt their environment at the same moment all start."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.services.runtime.environment import agree
from app.storage.database.database import Database

WORKERS = 8


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_workers_adopt_their_environment_at_once(database: Database, database_url: str) -> None:
    """All but the first or the second ended with an error: the row was there when it was stored."""
    agree(database)
    begin = threading.Barrier(WORKERS)

    def adopt(worker: Database) -> None:
        for _ in range(3):
            begin.wait(30)
            agree(worker, adopt=True)

    with contextlib.ExitStack() as stack, ThreadPoolExecutor(WORKERS) as threads:
        workers = [
            stack.enter_context(contextlib.closing(Database(database_url))) for _ in range(WORKERS)
        ]
        list(threads.map(adopt, workers))
    agree(database)
