"""What the next server does with the submissions that the last one was grading."""

from __future__ import annotations

import contextlib
import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.states import SubmissionState
from app.errors import Unavailable
from app.services.grading import gradings_in_progress
from app.services.grading.recovery import give_back_all, requeue_left_behind, suspects
from app.services.grading.submission_claims import SubmissionClaims
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.records import SubmissionRecord
from app.storage.queries import submissions
from app.storage.queries.operation import faults
from tests.storage.make import World, claim_built_in


@pytest.fixture
def claimed(context: Context, here: World) -> list[str]:
    """Three submissions that this server has claimed; the first is in a grader's hands."""
    ids = [here.submit().id for _ in range(2)]
    found = claim(context, 3)
    assert set(ids) < set(found)
    gradings_in_progress.begin(context.settings, ids[0])
    return [*ids, *(set(found) - set(ids))]


def claim(context: Context, limit: int) -> list[str]:
    now = datetime.now(UTC)
    claims = context.database.write(
        lambda session: claim_built_in(session, context.instance, limit, now)
    )
    return [one.id for one in claims]


def row(context: Context, submission_id: str) -> SubmissionRecord:
    with context.database.read() as session:
        found = submissions.get_submission(session, submission_id)
    assert found is not None
    return found[0]


def test_a_file_whose_outcome_waits_to_be_written_loses_no_attempt(
    context: Context, here: World
) -> None:
    sent, store = here.submit().id, SubmissionClaims(context)
    (claimed,) = store.claim_one(sent)
    store.begun(claimed)
    assert gradings_in_progress.noted(context.settings) == {sent}
    store.graded(claimed, 0.1)

    assert requeue_left_behind(context) == 1
    assert row(context, sent).attempts == 0
    assert suspects(context) == []


def test_only_a_file_in_a_graders_hands_loses_an_attempt(
    context: Context, claimed: list[str]
) -> None:
    assert requeue_left_behind(context) == 3

    assert [row(context, one).state for one in claimed] == [SubmissionState.QUEUED] * 3
    assert [row(context, one).attempts for one in claimed] == [1, 0, 0]
    assert suspects(context) == [claimed[0]]
    with context.database.read() as session:
        (fault,) = faults.list_faults(session, submission_id=claimed[0], limit=9)
        assert faults.list_faults(session, submission_id=claimed[1], limit=9) == []
    assert (fault.kind, fault.attempt) == (faults.SERVER_DIED, 1)
    assert gradings_in_progress.noted(context.settings) == frozenset()
    assert requeue_left_behind(context) == 0


def test_a_file_during_which_two_servers_died_is_failed(
    context: Context, claimed: list[str]
) -> None:
    requeue_left_behind(context)
    assert claimed[0] in claim(context, 3)
    gradings_in_progress.begin(context.settings, claimed[0])

    assert requeue_left_behind(context) == 2
    assert row(context, claimed[0]).state is SubmissionState.FAILED
    assert suspects(context) == []


def test_who_follows_a_run_is_told_that_its_submissions_changed(
    context: Context, claimed: list[str], here: World
) -> None:
    told: list[str] = []
    context.database.listen(told.extend, lambda: None)

    requeue_left_behind(context)

    assert here.run.id in told


def test_a_stop_costs_no_attempt(context: Context, claimed: list[str]) -> None:
    assert give_back_all(context) == 3

    assert [row(context, one).attempts for one in claimed] == [0, 0, 0]
    assert suspects(context) == []
    assert gradings_in_progress.noted(context.settings) == frozenset()


def test_a_stop_while_the_database_is_away_costs_no_attempt_either(
    context: Context, claimed: list[str]
) -> None:
    context.database.writer.close()
    with pytest.raises(Unavailable):
        give_back_all(context)

    with contextlib.closing(open_context(context.settings, grades=False, validates=False)) as next_:
        assert requeue_left_behind(next_) == 3
        assert [row(next_, one).attempts for one in claimed] == [0, 0, 0]
        assert suspects(next_) == []


def test_claims_of_another_server_are_left_alone(context: Context, here: World) -> None:
    other = here.submit()
    now = datetime.now(UTC)
    context.database.write(lambda s: claim_built_in(s, "another server", 9, now))

    assert requeue_left_behind(context) == 0
    assert row(context, other.id).claimed_by == "another server"


def test_notes_that_are_gone_or_were_never_written_count_nothing(context: Context) -> None:
    settings = context.settings
    gradings_in_progress.end(settings, "sub_none")
    gradings_in_progress.begin(settings, "sub_a")
    gradings_in_progress.begin(settings, "sub_a")
    assert gradings_in_progress.noted(settings) == {"sub_a"}
    gradings_in_progress.clear(settings)
    assert gradings_in_progress.noted(settings) == frozenset()


def test_notes_are_links_to_one_file(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    for name in ("sub_a", "sub_b"):
        gradings_in_progress.begin(settings, name)
    files = list((tmp_path / "grading").iterdir())
    assert {one.name for one in files} == {"sub_a", "sub_b"}
    assert len({one.stat().st_ino for one in files}) == 1
    gradings_in_progress.end(settings, "sub_a")
    assert gradings_in_progress.noted(settings) == {"sub_b"}


def test_a_file_system_without_links_gets_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    settings = Settings(data_dir=tmp_path)
    gradings_in_progress.begin(settings, "sub_a")
    gradings_in_progress.begin(settings, "sub_a")
    assert gradings_in_progress.noted(settings) == {"sub_a"}
    gradings_in_progress.clear(settings)
    assert gradings_in_progress.noted(settings) == frozenset()
