"""Signals of many submissions: one at which Podium stumbles keeps none of the others waiting."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from app.domain.states import ReviewDecision
from app.review.signals import Signal
from app.services.competitions.import_folder import import_folder
from app.services.reviews import compute
from app.services.reviews.compute import Reviewer
from app.services.reviews.decide import decide
from app.services.reviews.show import QueueFilter, page
from app.services.runtime.catalogue import Catalogue
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.records import RunRecord, VersionRecord
from app.storage.queries.reviews import signals, sketches
from app.worker.loop import Worker
from tests.factories import good_submission, write_competition
from tests.storage.make import add_run, add_submission, make_submission


@pytest.fixture
def grading(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Context]:
    """A process that grades."""
    file = shutil.copyfile(migrated_sqlite, tmp_path / "grading.db")
    settings = Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", graders=1)
    opened = open_context(settings)
    yield opened
    opened.close()


def perfect_run(context: Context, folder: Path) -> tuple[VersionRecord, RunRecord]:
    """A run at a new competition, with two perfect files that wait for a grader."""
    write_competition(folder)
    version = import_folder(context, folder).version
    run = add_run(context.database, version, f"of-{folder.name}")
    blob = context.blobs.put(good_submission(folder))
    for _ in range(2):
        sent = make_submission(run, sha256=blob.sha256, bytes=blob.bytes)
        context.database.write(lambda session, sent=sent: add_submission(session, sent))
    return version, run


def found(context: Context, run: RunRecord) -> set[Signal]:
    with context.database.read() as session:
        return {one.signal for one in signals.of_run(session, run.id)}


def waiting(context: Context) -> int:
    with context.database.read() as session:
        return len(sketches.not_reviewed(session, 100))


def test_a_version_with_a_damaged_file_keeps_no_other_version_waiting(
    grading: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "SUBMISSIONS_PER_TURN", 1)
    monkeypatch.setattr(compute, "PASSED_OVER_SECONDS", 1.0)
    damaged, its_run = perfect_run(grading, tmp_path / "damaged")
    _, other_run = perfect_run(grading, tmp_path / "other")
    Worker(grading).run(lambda idle: idle)
    files = grading.catalogue.files.imported_directory(damaged.slug, damaged.content_hash)
    sample = files / "public" / "sample_submission.csv"
    right = sample.read_bytes()
    sample.unlink()  # a link to a stored file
    sample.write_bytes(right.replace(b"0", b"1"))
    new = Catalogue(grading.catalogue.files, grading.settings.competitions_dir, grading.database)
    reviewer = Reviewer(replace(grading, catalogue=new), threading.Event())  # as after a restart

    while reviewer.turn():
        pass

    assert Signal.PERFECT_SCORE in found(grading, other_run)
    assert (found(grading, its_run), waiting(grading)) == (set(), 2)

    sample.write_bytes(right)
    time.sleep(compute.PASSED_OVER_SECONDS)
    while reviewer.turn():
        pass
    assert Signal.PERFECT_SCORE in found(grading, its_run)
    assert waiting(grading) == 0


def test_a_submission_at_which_podium_stumbles_is_passed_and_the_others_go_on(
    grading: Context, tmp_path: Path
) -> None:
    broken, its_run = perfect_run(grading, tmp_path / "broken")
    _, other_run = perfect_run(grading, tmp_path / "other")
    Worker(grading).run(lambda idle: idle)
    odd = update(sketches.TABLE).where(sketches.TABLE.c.version_id == broken.id)
    grading.database.write(lambda session: session.execute(odd.values(cells=b"odd")).close())

    while Reviewer(grading, threading.Event()).turn():
        pass

    assert Signal.PERFECT_SCORE in found(grading, other_run)
    assert (found(grading, its_run), waiting(grading)) == (set(), 0)


def test_a_decision_that_is_made_meanwhile_does_not_decide_about_new_signals(
    grading: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = perfect_run(grading, tmp_path / "own")
    Worker(grading).run(lambda idle: idle)
    compute_signals = Reviewer.signals_or_none

    def computed_slowly(*given: Any) -> Any:
        computed = compute_signals(*given)
        decide(grading, run.id, ReviewDecision.ACCEPT, f"{time.monotonic()}", by=None)
        return computed

    monkeypatch.setattr(Reviewer, "signals_or_none", computed_slowly)
    assert Reviewer(grading, threading.Event()).turn() == 2

    (item,), _ = page(grading, QueueFilter(), None, None)
    assert (item.run.run, item.run.decision) == (run.id, None)
    decide(grading, run.id, ReviewDecision.ACCEPT, "looked at", by=None)
    assert page(grading, QueueFilter(), None, None)[0] == []
