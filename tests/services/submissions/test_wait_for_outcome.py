"""A file that was waited for is stored, so its request is not refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.states import Role, SubmissionState
from app.errors import Unavailable
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions.wait_for_outcome import show_after_wait
from app.storage.database.database import Database
from app.storage.database.records import RunRecord
from tests.storage.make import make_submission


@pytest.fixture
def away(context: Context, tmp_path: Path) -> Iterator[Context]:
    """The context, with a database that cannot be opened."""
    database = Database(f"sqlite:///{tmp_path}/missing/podium.db", write_patience=0.1)
    yield replace(context, database=database)
    database.close()


@pytest.fixture
def caller(run: RunRecord) -> Caller:
    return Caller(Role.RUN, "key", run.id)


def test_a_stored_file_is_shown_as_queued_while_the_database_is_away(
    context: Context, away: Context, run: RunRecord, caller: Caller
) -> None:
    context.catalogue.of_version(run.version_id)  # as when the file was admitted

    shown = show_after_wait(away, caller, run, make_submission(run))

    assert (shown.state, shown.grade) == ("queued", None)


def test_an_outcome_of_a_file_sent_before_has_to_be_read(
    away: Context, run: RunRecord, caller: Caller
) -> None:
    settled = replace(make_submission(run), state=SubmissionState.GRADED)

    with pytest.raises(Unavailable):
        show_after_wait(away, caller, run, settled)
