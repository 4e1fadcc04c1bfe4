"""Two who change a run at once, through two servers."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from app.services.experiments.runs import change
from app.services.runtime.context import open_context
from app.settings import Settings
from app.storage.database.records import RunRecord
from app.storage.queries import runs
from app.storage.queries.trust import receipts
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import add_run, add_version


def test_of_two_who_close_a_run_at_once_the_second_changes_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url)
    one, other = (open_context(settings, grades=False, validates=False) for _ in range(2))
    version = one.database.write(lambda session: add_version(session, "bikes", toml=TOML))
    run = add_run(one.database, version, "first")
    update_run = runs.update_run
    others: list[Future[RunRecord]] = []

    def update_slowly(*given: Any, **fields: Any) -> None:
        if not others:
            others.append(
                threads.submit(change, other, run.id, close=True, usage={"b": 2}, failure=None)
            )
            wait(others, 0.3)  # it has to wait for this transaction
        update_run(*given, **fields)

    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(runs, "update_run", update_slowly)
        first = change(one, run.id, close=True, usage={"a": 1}, failure=None)
        second = others[0].result()

    assert first.closed_at == second.closed_at
    assert second.usage == {"a": 1, "b": 2}
    with one.database.read() as session:
        assert len(receipts.of_run(session, run.id)) == 1
    one.close()
    other.close()
