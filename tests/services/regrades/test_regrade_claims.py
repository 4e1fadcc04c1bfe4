"""Claims of regrades: each submission gets one outcome, and lost attempts are counted."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from app.domain.states import RegradeState, SubmissionState
from app.errors import Unavailable
from app.graders.messages.results import GraderFault
from app.services.regrades import regrade_claims
from app.services.regrades.regrade_claims import DEATHS, RegradeClaims
from app.services.runtime import context as context_module
from app.services.runtime.context import Context
from app.services.runtime.environment import OtherEnvironment, this_environment
from app.storage.database.writer import Writer
from app.storage.queries import submissions
from app.storage.queries.operation import environments
from app.storage.queries.operation.environments import Environment
from app.storage.queries.regrades.outcomes import ClaimedRegrading
from tests.graders.conftest import wait_until
from tests.services.grading.test_take_over import server
from tests.services.regrades.make import graded, new_grade, outcome, started, stored
from tests.storage.make import NOON, World, make_world

CANCELLED = RegradeState.CANCELLED
FAULT = GraderFault("crashed", "metric")


@pytest.fixture
def claims(context: Context) -> RegradeClaims:
    return RegradeClaims(context)


def refuses(writer: Writer) -> bool:
    """Whether a writer takes nothing more."""
    try:
        writer.enqueue(lambda _: None)
    except Unavailable:
        return True
    return False


def claim(claims: RegradeClaims, limit: int = 9, busy=()) -> list[ClaimedRegrading]:
    found = claims.claim(limit, busy)
    assert found is not None
    return found


def test_without_a_running_regrade_there_is_nothing_to_claim(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    graded(here)

    assert claims.claim(9, ()) is None


def test_an_outcome_that_is_written_while_podium_ends_ends_its_grading(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    """A command that ended because the database was away printed a traceback for it."""
    graded(here)
    started(context)
    (one,) = claim(claims)
    writer, may_go_on = context.database.writer, threading.Event()
    context.database.enqueue(lambda _: may_go_on.wait(30))

    writing = claims.write(one, new_grade(1.0), "mae")
    ending = threading.Thread(target=writer.close)
    ending.start()
    wait_until(lambda: refuses(writer))
    may_go_on.set()
    ending.join()

    assert writing.result(5) is SubmissionState.GRADED


def test_submissions_in_flight_are_not_claimed_again(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    ids = [graded(here).id for _ in range(3)]
    one = started(context)

    first = claim(claims, 2)
    second = claim(claims, 2, busy=first)

    assert [each.id for each in first + second] == ids
    assert {each.attempts for each in first + second} == {1}
    assert claim(claims, 0) == []
    assert claim(claims, 9, busy=first + second) == []
    assert stored(context, one.id).state is RegradeState.RUNNING


@pytest.mark.parametrize("database_kind", ["postgresql"])  # SQLite has one server
def test_what_another_living_server_grades_is_not_claimed(
    database_url: str, tmp_path: Path
) -> None:
    with server(database_url, tmp_path / "lives") as lives:
        with server(database_url, tmp_path / "dies") as dies:
            world = make_world(dies.database)
            ids = [graded(world).id for _ in range(3)]
            one = started(dies)
            first = claim(RegradeClaims(dies), 2)
            others = RegradeClaims(lives)

            (last,) = claim(others)
            assert [each.id for each in [*first, last]] == ids
            for _ in range(DEATHS + lives.settings.grading_attempts):  # while one is slow
                assert claim(others, busy=[last]) == []
            assert stored(lives, one.id).state is RegradeState.RUNNING
            RegradeClaims(dies).give_back(first[0]).result()
            (given,) = claim(others, busy=[last])
            assert (given.id, given.attempts) == (first[0].id, 1)

        lost: list[ClaimedRegrading] = []
        wait_until(lambda: bool(lost.extend(claim(others, busy=[last, given])) or lost))

    assert [(each.id, each.attempts) for each in lost] == [(first[1].id, 2)]


def test_the_oldest_regrade_comes_first(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    sent = graded(here)
    whole, single = started(context), started(context, submission_id=sent.id)

    (first,) = claim(claims)
    (second,) = claim(claims, busy=[first])

    assert [first.regrade_id, second.regrade_id] == [whole.id, single.id]
    assert first.id == second.id == sent.id


def test_an_outcome_leaves_the_first_grade_unchanged(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    sent = graded(here, score=0.5)
    one = started(context)
    (claimed,) = claim(claims)

    assert claims.write(claimed, new_grade(0.75), "m").result() is SubmissionState.GRADED
    assert claims.write(claimed, new_grade(0.25), "m").result() is None  # there is one

    found = outcome(context, one.id, sent.id)
    assert found is not None
    assert (found.state, found.score) == (SubmissionState.GRADED, 0.75)
    with context.database.read() as session:
        kept = submissions.get_submission(session, sent.id)
    assert kept is not None
    assert kept[1] is not None
    assert kept[1].score == 0.5
    context.database.write(lambda session: None)  # after the write that finishes the regrade
    assert stored(context, one.id).state is RegradeState.READY


def test_an_outcome_is_of_one_regrade_and_one_submission(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    sent, another = graded(here), graded(here)
    one, two = started(context), started(context, version_id=here.version.id)
    (claimed,) = [each for each in claim(claims) if (each.regrade_id, each.id) == (one.id, sent.id)]

    assert claims.write(claimed, new_grade(0.75), "m").result() is SubmissionState.GRADED

    found = outcome(context, one.id, sent.id)
    assert found is not None
    assert found.score == 0.75
    assert outcome(context, one.id, another.id) is None
    assert outcome(context, two.id, sent.id) is None


def test_a_fault_is_tried_again_and_then_written(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    sent = graded(here)
    one = started(context)

    for attempt in range(1, context.settings.grading_attempts + 1):
        (claimed,) = claim(claims)
        assert claimed.attempts == attempt
        state = claims.write(claimed, FAULT, "m").result()
        last = attempt == context.settings.grading_attempts
        assert state is (SubmissionState.FAILED if last else SubmissionState.QUEUED)

    found = outcome(context, one.id, sent.id)
    assert found is not None
    assert (found.fault, found.place) == ("crashed", "metric")


def test_what_is_given_back_costs_no_attempt(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    graded(here)
    started(context)

    for _ in range(3):
        (claimed,) = claim(claims)
        claims.give_back(claimed).result()
        claims.give_back(claimed).result()  # at the end of a drain, while it is postponed

    assert claim(claims)[0].attempts == 1


def test_a_file_that_kills_every_process_fails_in_the_end(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    sent = graded(here)
    one = started(context)
    for _ in range(DEATHS + context.settings.grading_attempts):
        assert len(claim(claims)) == 1  # each process dies before it writes

    assert claims.claim_job(one.id, sent.id) is None

    found = outcome(context, one.id, sent.id)
    assert found is not None
    assert (found.state, found.fault) == (SubmissionState.FAILED, "worker_lost")


def test_a_regrade_of_another_environment_is_cancelled(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    sent = graded(here)
    one = started(context, environment="python-2.7")

    assert claims.claim_job(one.id, sent.id) is None

    found = stored(context, one.id)
    assert found.state is RegradeState.CANCELLED
    assert found.reason is not None
    assert "environment" in found.reason
    assert claims.claim(9, ()) is None


@pytest.mark.parametrize("database_kind", ["postgresql"])  # SQLite has one server
def test_a_regrade_of_another_environment_is_left_to_a_server_that_lives(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regrade_claims, "ALONE_SECONDS", 0.5)
    other = Environment("9.9.9", "python-2.7")
    with server(database_url, tmp_path / "one") as one:
        graded(make_world(one.database))
        begun = started(one, podium_version=other.podium_version, environment=other.environment)
        claims = RegradeClaims(one)
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(context_module, "this_environment", lambda: other)
            with server(database_url, tmp_path / "other"):
                assert claims.claim(9, ()) is None
                time.sleep(0.6)
                assert claims.claim(9, ()) is None
                assert stored(one, begun.id).state is RegradeState.RUNNING

        wait_until(lambda: not claims.claim(9, ()) and stored(one, begun.id).state is CANCELLED)


def test_what_was_settled_meanwhile_is_added_before_the_end(
    context: Context, here: World, claims: RegradeClaims
) -> None:
    graded(here)
    one = started(context)
    (claimed,) = claim(claims)
    late = graded(here)

    claims.write(claimed, new_grade(0.5), "m").result()
    context.database.write(lambda session: None)

    assert stored(context, one.id).state is RegradeState.RUNNING
    assert [each.id for each in claim(claims)] == [late.id]


def test_a_worker_of_another_environment_is_refused_and_cancels_nothing(
    context: Context, here: World
) -> None:
    sent = graded(here)
    newer = Environment("9.9.9", this_environment().environment)
    context.database.write(lambda session: environments.replace(session, newer, NOON))
    one = started(context, podium_version="9.9.9")

    with pytest.raises(OtherEnvironment):
        RegradeClaims(context, are_others=True).claim_job(one.id, sent.id)

    assert stored(context, one.id).state is RegradeState.RUNNING
