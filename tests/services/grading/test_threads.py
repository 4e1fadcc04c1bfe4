"""Which threads fetch and compare files: none that all writes or all claims wait for."""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from cachetools import LRUCache
from sqlalchemy import Engine, event

from app.domain.states import SubmissionState
from app.services.competitions.import_folder import import_folder
from app.services.grading import uncertainty
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.queries import submissions
from app.worker.loop import Worker
from tests.factories import good_submission, write_competition
from tests.storage.make import add_run, add_submission, make_submission


@pytest.fixture
def settings(migrated_sqlite: Path, tmp_path: Path) -> Settings:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    return Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", graders=1)


@pytest.fixture
def grading(settings: Settings) -> Iterator[Context]:
    """A process that grades."""
    opened = open_context(settings)
    yield opened
    opened.close()


def submit(context: Context, folder: Path) -> str:
    """A submission to a new competition."""
    write_competition(folder)
    run = add_run(context.database, import_folder(context, folder).version, f"of-{folder.name}")
    blob = context.blobs.put(good_submission(folder))
    sent = make_submission(run, sha256=blob.sha256, bytes=blob.bytes)
    return context.database.write(lambda session: add_submission(session, sent)).id


def threads_of(engine: Engine) -> dict[str, set[int]]:
    """The threads that will execute statements, by statement."""
    found: dict[str, set[int]] = defaultdict(set)

    def note(_: object, __: object, statement: str, *___: object) -> None:
        found[statement].add(threading.get_ident())

    event.listen(engine, "before_cursor_execute", note)
    return found


def test_the_writer_reads_nothing_for_the_noise_that_is_estimated_next(
    grading: Context, tmp_path: Path
) -> None:
    ids = [submit(grading, tmp_path / name) for name in ("one", "two", "three")]
    Worker(grading).run(lambda idle: idle)
    graded = [uncertainty.find(grading, one) for one in ids]
    grading.catalogue._versions = LRUCache(1)  # as if hundreds of versions were in use  # noqa: SLF001
    reading = threads_of(grading.database.reading_engine)
    writing = threads_of(grading.database.writing_engine)

    estimates = [uncertainty.start(grading, one, f"key {at}") for at, one in enumerate(graded)]

    assert [each.result(60).grade_id for each in estimates] == [one.grade.id for one in graded]
    assert any("competition_version" in statement for statement in reading)
    assert not set().union(*reading.values()) & set().union(*writing.values())


def test_the_loop_that_claims_compares_no_files_of_a_competition(
    settings: Settings, tmp_path: Path
) -> None:
    before = open_context(settings)
    try:
        sent = submit(before, tmp_path / "large")
    finally:
        before.close()
    context = open_context(settings)  # after a restart no file is known to be right
    try:
        reading = threads_of(context.database.reading_engine)
        Worker(context).run(lambda idle: idle)
        with context.database.read() as session:
            found = submissions.get_submission(session, sent)
    finally:
        context.close()

    assert found is not None
    assert found[0].state is SubmissionState.GRADED
    lists = [threads for statement, threads in reading.items() if "FROM version_file" in statement]
    assert lists
    assert threading.get_ident() not in set().union(*lists)


def test_a_grading_waits_while_the_system_gives_no_more_threads(
    grading: Context, tmp_path: Path
) -> None:
    sent = submit(grading, tmp_path / "tiny")
    grading.graders.warm_up()
    grading.catalogue.files._leased.clear()  # as after a restart: a thread compares the files  # noqa: SLF001
    worker = Worker(grading)
    calls: list[bool] = []

    def stop(idle: bool) -> bool:
        calls.append(idle)
        if len(calls) == 3:  # the submission was claimed by then
            threading.stack_size(0)
        with grading.database.read() as session:
            found = submissions.get_submission(session, sent)
        assert found is not None
        states.append((found[0].state, found[0].attempts))
        return (idle and found[0].state.is_settled) or len(calls) == 30

    states: list[tuple[SubmissionState, int]] = []
    threading.stack_size(2**46)  # no thread can be started: so much memory cannot be addressed
    try:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            threading.Thread(target=print).start()
        worker.run(stop)
    finally:
        threading.stack_size(0)

    assert (SubmissionState.GRADING, 1) in states
    assert states[-1] == (SubmissionState.GRADED, 1), "waiting counts no attempt"
