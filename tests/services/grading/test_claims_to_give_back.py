"""Claims that a worker could not give back: the next start of its data directory does."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.states import SubmissionState
from app.errors import Unavailable
from app.services.grading.claims_to_give_back import give_back_noted, note
from app.services.runtime.context import Context
from app.storage.database.database import Database
from app.storage.queries import submissions
from tests.storage.make import NOON, World, claim_built_in

WORKER, OTHER = "worker", "other"


def claimed(here: World, by: str = WORKER) -> str:
    """A submission that is being graded under a name."""
    sent = here.submit()
    here.database.write(lambda s: claim_built_in(s, by, 100, NOON))
    return sent.id


def now(context: Context, submission: str) -> tuple[SubmissionState, int, str | None]:
    with context.database.read() as session:
        found = submissions.get_submission(session, submission)
    assert found is not None
    row, *_ = found
    return row.state, row.attempts, row.claimed_by


def notes(context: Context) -> list[str]:
    return sorted(one.name for one in (context.settings.data_dir / "claims").glob("*"))


def test_what_is_noted_is_queued_again_and_costs_no_attempt(context: Context, here: World) -> None:
    sent, unnoted = claimed(here), here.submit().id
    here.database.write(lambda s: claim_built_in(s, WORKER, 1, NOON))
    note(context.settings, sent, WORKER)
    assert now(context, sent) == (SubmissionState.GRADING, 1, WORKER)

    give_back_noted(context)

    assert now(context, sent)[:2] == (SubmissionState.QUEUED, 0)
    assert now(context, unnoted) == (SubmissionState.GRADING, 1, WORKER)
    assert notes(context) == []


def test_what_another_worker_has_claimed_since_stays_claimed(context: Context, here: World) -> None:
    sent = claimed(here, by=OTHER)
    note(context.settings, sent, WORKER)

    give_back_noted(context)

    assert now(context, sent) == (SubmissionState.GRADING, 1, OTHER)
    assert notes(context) == []


def test_notes_stay_while_the_database_is_away(context: Context, here: World) -> None:
    sent = claimed(here, by=OTHER)
    note(context.settings, sent, OTHER)
    nowhere = "postgresql://nobody@127.0.0.1:1/podium"
    away = Database(nowhere, write_patience=0)
    try:
        with pytest.raises(Unavailable):
            give_back_noted(replace(context, database=away))
    finally:
        away.close()
    assert notes(context) == [f"{sent} {OTHER}"]

    give_back_noted(context)
    assert now(context, sent)[:2] == (SubmissionState.QUEUED, 0)


def test_a_worker_stops_though_it_cannot_note_a_claim(
    context: Context, caplog: pytest.LogCaptureFixture
) -> None:
    (context.settings.data_dir / "claims").write_text("a file, where the folder should be")

    with caplog.at_level(logging.WARNING):
        note(context.settings, "sub_1", WORKER)

    (line,) = [one for one in caplog.records if one.name == "podium.worker"]
    assert (line.getMessage(), vars(line)["reason"]) == ("cannot note a claim", "File exists")


def test_without_notes_nothing_is_read_or_written(context: Context) -> None:
    give_back_noted(context)

    assert not Path(context.settings.data_dir, "claims").exists()
