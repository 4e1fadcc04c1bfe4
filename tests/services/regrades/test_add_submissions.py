"""A regrade gets its submissions in parts, while others grade the first of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.domain.states import RegradeState, SubmissionState
from app.services.regrades.add_submissions import add_listed
from app.services.runtime.context import open_context
from app.settings import Settings
from app.storage.queries.regrades import members, outcomes
from tests.services.regrades.make import graded, started, stored
from tests.services.regrades.test_apply import settle_all
from tests.storage.make import make_world


@pytest.mark.parametrize("database_kind", ["postgresql"])  # SQLite has one writer at a time
def test_a_part_that_is_added_while_the_regrade_is_finished_is_graded(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url)
    one, other = (open_context(settings, grades=False, validates=False) for _ in range(2))
    here = make_world(one.database)
    graded(here)
    regrade = started(one)
    for _ in range(2):
        graded(here)
    queued = outcomes.queued
    added: list[int] = []
    adding = threading.Lock()  # who claims looks at the same time as the writer, which finishes

    def add_all() -> int:
        with one.database.read() as reading:
            listed = members.settled_after(reading, regrade, "")
        return one.database.write(lambda own: add_listed(own, regrade.id, listed, queues=False))

    def queued_slowly(session: Session, regrade_id: str, limit: int, **names: Any) -> list[str]:
        with adding:
            found = queued(session, regrade_id, limit, **names)
            if not found and not added:
                added.append(add_all())
        return found

    monkeypatch.setattr(outcomes, "queued", queued_slowly)
    settle_all(other, 0.75, fails=False)
    settle_all(other, 0.75, fails=False)  # at its next look

    assert added == [2]
    assert stored(one, regrade.id).state is RegradeState.READY
    with one.database.read() as session:
        counts = outcomes.progress(session, [regrade.id])[regrade.id]
    assert counts == {SubmissionState.GRADED.value: 3}
    assert add_all() == 0
    one.close()
    other.close()
