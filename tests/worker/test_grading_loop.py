"""The loops of a server that grades: live submissions and regrades, with real graders."""

from __future__ import annotations

import itertools
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from app.domain.states import RegradeState, SubmissionState
from app.graders.messages.results import GradingResult
from app.services.competitions.import_folder import import_folder
from app.services.grading import gradings_in_progress, lifecycle, recovery
from app.services.grading.submission_claims import SubmissionClaims
from app.services.regrades.start import start
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.blobs.disk import STORE_FILE, DiskBlobs
from app.storage.database.records import ClaimRecord, SubmissionRecord
from app.storage.queries import direct_claims, submissions
from app.storage.queries.operation import faults
from app.storage.queries.regrades import outcomes, regrades
from app.worker.grading_loop import IDLE_SECONDS
from app.worker.loop import Worker, regrading_loop
from tests.factories import good_submission, write_competition
from tests.storage.make import add_run, add_submission, claim_built_in, make_submission

SLOW_METRIC = """
import time

def score(answers, submission):
    time.sleep(3)
    return 1.0
"""
RAISES = """
def score(answers, submission):
    if submission["target"].max() > 500:
        raise ValueError
    return 1.0
"""


@dataclass
class Server:
    """A process that grades, and a run at a competition of it."""

    context: Context
    folder: Path
    run: object

    def submit(self, shift: float = 0.0) -> str:
        """Store a submission and its file."""
        body = b"not,a\nsubmission" if shift < 0 else good_submission(self.folder, shift=shift)
        blob = self.context.blobs.put(body)
        sent = make_submission(self.run, sha256=blob.sha256, bytes=blob.bytes)
        return self.context.database.write(lambda session: add_submission(session, sent)).id

    def row(self, submission_id: str) -> SubmissionRecord:
        with self.context.database.read() as session:
            found = submissions.get_submission(session, submission_id)
        assert found is not None
        return found[0]


@pytest.fixture
def server(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Server]:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", graders=1,
        outcome_step_seconds=0,
    )  # fmt: skip
    context = open_context(settings)
    try:
        folder = write_competition(tmp_path / "tiny")
        version = import_folder(context, folder).version
        run = add_run(context.database, version, "first")
        yield Server(context, folder, run)
    finally:
        context.close()


def test_each_submission_gets_its_outcome(server: Server) -> None:
    ids = [server.submit(shift) for shift in (0.0, 0.5, -1.0)]

    Worker(server.context).run(lambda idle: idle)

    assert [server.row(one).state for one in ids] == [
        SubmissionState.GRADED, SubmissionState.GRADED, SubmissionState.REJECTED,
    ]  # fmt: skip
    assert {server.row(one).attempts for one in ids} == {1}
    assert gradings_in_progress.noted(server.context.settings) == frozenset()


def test_what_comes_while_all_places_are_taken_is_claimed_when_one_is_free(server: Server) -> None:
    worker = Worker(server.context)
    # Files that are really graded could give their places back before the next line.
    worker._capacity = 2  # one for competitions with a metric.py, and one for others  # noqa: SLF001
    first = server.submit()
    taken = worker.claim()
    assert taken is not None
    assert [one.id for one in taken] == [first]
    assert worker.claim() is None
    worker._in_flight.update(taken)  # noqa: SLF001
    worker._in_flight.add(replace(taken[0], id="of another"))  # noqa: SLF001

    second = server.submit()
    worker.wake()
    assert worker.claim() == []
    worker._in_flight.clear()  # noqa: SLF001

    assert [one.id for one in worker.claim() or []] == [second]


def test_what_another_process_queues_is_found_without_a_wake(server: Server) -> None:
    worker, stopping = Worker(server.context), threading.Event()
    working = threading.Thread(target=worker.run, args=(lambda _: stopping.is_set(),))
    working.start()
    try:
        for shift in (0.0, 0.5):
            sent = server.submit(shift)
            for _ in range(300):
                if server.row(sent).state is SubmissionState.GRADED:
                    break
                time.sleep(0.1)
            assert server.row(sent).state is SubmissionState.GRADED
    finally:
        stopping.set()
        worker.wake()
        working.join()


def test_what_another_process_queues_is_found_though_gradings_wake_the_loop_all_the_time(
    server: Server,
) -> None:
    worker = Worker(server.context)
    assert worker.claim() is None
    sent = server.submit()

    found = []
    for _ in range(5):  # each is a grading that ended
        time.sleep(IDLE_SECONDS / 4)
        found += worker.claim() or []

    assert [one.id for one in found] == [sent]


def test_a_file_during_which_a_server_died_is_graded_first(server: Server) -> None:
    context = server.context
    suspect, other = server.submit(), server.submit()
    now = datetime.now(UTC)
    context.database.write(lambda s: claim_built_in(s, context.instance, 9, now))
    gradings_in_progress.begin(context.settings, suspect)
    recovery.requeue_left_behind(context)
    worker = Worker(context)
    seen: list[tuple[bool, SubmissionState]] = []

    def stop(idle: bool) -> bool:
        seen.append((server.row(suspect).state.is_settled, server.row(other).state))
        return idle

    worker.run(stop)

    before = [state for is_settled, state in seen if not is_settled]
    assert set(before) <= {SubmissionState.QUEUED}  # nothing else was begun
    assert [server.row(one).state for one in (suspect, other)] == [SubmissionState.GRADED] * 2
    assert [server.row(one).attempts for one in (suspect, other)] == [2, 1]


@pytest.mark.parametrize("is_suspect", [False, True])
def test_a_loop_outlives_an_error_of_the_database_that_is_no_outage(
    server: Server, caplog: pytest.LogCaptureFixture, is_suspect: bool
) -> None:
    context = server.context
    sent = server.submit()
    if is_suspect:
        now = datetime.now(UTC)
        context.database.write(lambda s: claim_built_in(s, context.instance, 9, now))
        gradings_in_progress.begin(context.settings, sent)
        recovery.requeue_left_behind(context)
    refuse_updates(context, refuses=True)

    calls: list[bool] = []

    def stop(idle: bool) -> bool:
        calls.append(idle)
        if len(calls) == 2:  # the first is made before or after a claim, the second after one
            refuse_updates(context, refuses=False)
        return idle and server.row(sent).state.is_settled

    Worker(context).run(stop)

    assert server.row(sent).state is SubmissionState.GRADED
    assert "refused here" in caplog.text  # the log tells the error itself


def test_an_outcome_that_the_database_refuses_is_written_when_it_does_no_more(
    server: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "DATABASE_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(lifecycle, "UNEXPECTED_PAUSE_SECONDS", 0.05)
    sent = server.submit()
    refuse_updates(server.context, refuses=True, of="grading")

    def stop(idle: bool) -> bool:
        if caplog.text.count("cannot write an outcome") >= 4:  # the grade, the fault, and again
            refuse_updates(server.context, refuses=False)
        return idle and server.row(sent).state.is_settled

    Worker(server.context).run(stop)

    assert server.row(sent).state is SubmissionState.GRADED


def test_the_place_of_a_metrics_fault_is_for_admins_and_not_in_the_log(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A metric.py can write answers into it, and a log has many readers."""
    context = server.context
    folder = write_competition(tmp_path / "own", metric_py=RAISES, leaderboard=None)
    run = add_run(context.database, import_folder(context, folder).version, "own")
    own = Server(context, folder, run)
    sent = own.submit(shift=1000.0)

    Worker(context).run(lambda idle: idle and own.row(sent).state.is_settled)

    logged = [vars(one)["place"] for one in caplog.records if one.msg == "grading fault"]
    assert set(logged) == {"see podium faults"}
    with context.database.read() as session:
        found = faults.list_faults(session, submission_id=sent, limit=9)
    assert len(found) == len(logged)
    assert {one.kind for one in found} == {"metric"}
    assert all("metric.py" in one.place for one in found)


def refuse_updates(context: Context, *, refuses: bool, of: str = "queued") -> None:
    """Let the database refuse to change submissions: an error that is neither retried nor named.

    It refuses those in the state `of`.
    """
    action = (
        f"BEFORE UPDATE ON submission WHEN OLD.state = '{of}' "
        "BEGIN SELECT RAISE(ABORT, 'refused here'); END"
    )
    statement = f"CREATE TRIGGER refusal {action}" if refuses else "DROP TRIGGER IF EXISTS refusal"
    context.database.write(lambda session: session.execute(text(statement)).close())


def test_a_file_that_hangs_at_the_next_start_keeps_others_waiting_for_a_bounded_time(
    server: Server, tmp_path: Path
) -> None:
    context = server.context
    slow = write_competition(tmp_path / "slow", metric_py=SLOW_METRIC)
    run = add_run(context.database, import_folder(context, slow).version, "slow")
    suspect, other = Server(context, slow, run).submit(), server.submit()
    now = datetime.now(UTC)
    context.database.write(lambda s: direct_claims.claim_named(s, context.instance, [suspect], now))
    gradings_in_progress.begin(context.settings, suspect)
    recovery.requeue_left_behind(context)

    Worker(context, alone_seconds=0.2).run(lambda _: server.row(other).state.is_settled)

    assert server.row(other).state is SubmissionState.GRADED
    assert server.row(suspect).state is SubmissionState.GRADING


def test_a_regrade_waits_for_live_submissions_and_then_grades_all(server: Server) -> None:
    context = server.context
    ids = [server.submit(shift) for shift in (0.0, 0.5, -1.0)]
    Worker(context).run(lambda idle: idle)
    regrade = start(context, server.folder.name, by=None)
    is_free = threading.Event()
    asked: list[bool] = []

    def stop(idle: bool) -> bool:
        with context.database.read() as session:
            left = outcomes.queued(session, regrade.id, 9)
        if not is_free.is_set():
            assert sorted(left) == sorted(ids)
            asked.append(idle)
            if len(asked) == 3:
                is_free.set()
        return idle

    regrading_loop(context, is_free.is_set).run(stop)

    assert asked == [False, False, False]
    with context.database.read() as session:
        found = regrades.get(session, regrade.id)
        given = [outcomes.given_by(session, regrade.id, one) for one in ids]
    assert found is not None
    assert found.state is RegradeState.READY
    assert [one[2].state for one in given if one] == [server.row(one).state for one in ids]
    assert [server.row(one).attempts for one in ids] == [1, 1, 1]  # live rows are untouched


def test_a_file_that_the_store_has_lost_is_a_fault_and_others_go_on(server: Server) -> None:
    assert isinstance(server.context.blobs, DiskBlobs)
    lost, other = server.submit(0.25), server.submit(0.0)
    server.context.blobs.path(server.row(lost).sha256).unlink()

    Worker(server.context).run(lambda idle: idle)

    assert server.row(lost).state is SubmissionState.FAILED
    assert server.row(lost).attempts == server.context.settings.grading_attempts
    assert server.row(other).state is SubmissionState.GRADED


class WithoutDisk(SubmissionClaims):
    """Graders get a file while its disk is away. When their reply is looked at, it is back."""

    def __init__(self, context: Context, disk: Path) -> None:
        super().__init__(context)
        self._disk = disk

    def in_turn(
        self, claimed: ClaimRecord, send: Callable[[], Future[GradingResult]]
    ) -> Future[GradingResult]:
        away = self._disk.rename(self._disk.with_name("elsewhere"))
        reply = send()
        wait([reply], 60)
        away.rename(self._disk)
        return reply


def test_a_store_that_is_mounted_again_before_the_reply_costs_no_attempt(server: Server) -> None:
    sent = server.submit()
    claims = WithoutDisk(server.context, server.context.settings.data_dir / "blobs")
    (claimed,) = claims.claim_one(sent)

    end = lifecycle.GradingLifecycle(server.context, claims).start(claimed).result(60)

    assert (end, server.row(sent).attempts) == (SubmissionState.QUEUED, 0)
    with server.context.database.read() as session:
        assert faults.list_faults(session, submission_id=sent, limit=9) == []


def test_a_store_that_is_unmounted_costs_no_attempt(server: Server) -> None:
    blobs = server.context.settings.data_dir / "blobs"
    (blobs / STORE_FILE).write_text("a" * 32)
    server.context.close()
    context = open_context(server.context.settings)
    server.context = context
    sent, turns = server.submit(), itertools.count()
    for before in (lambda: None, lambda: DiskBlobs(blobs)):  # there is nothing, or a new directory
        blobs.rename(blobs.with_name("elsewhere"))
        before()
        Worker(context).run(lambda idle: next(turns) % 4 == 3)
        assert server.row(sent).attempts <= 1
        shutil.rmtree(blobs, ignore_errors=True)
        blobs.with_name("elsewhere").rename(blobs)

    Worker(context).run(lambda _: server.row(sent).state.is_settled)

    assert (server.row(sent).state, server.row(sent).attempts) == (SubmissionState.GRADED, 1)
    with context.database.read() as session:
        assert faults.list_faults(session, submission_id=sent, limit=9) == []
