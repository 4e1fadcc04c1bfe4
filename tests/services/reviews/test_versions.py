"""The facts about a competition version that signals rest on, read with a real grader."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.domain.competition import SAMPLE_FILE
from app.services.competitions.import_folder import import_folder
from app.services.grading.send_to_grader import send_to_grader
from app.services.reviews.versions import Stopped, version_facts
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.queries.reviews.sketches import digest_of
from tests.factories import BOARD, sample_submission, write_competition

METRIC = "def score(answers, submission):\n    return 1.0\n"
Import = Callable[[Path], int]


@pytest.fixture
def grading(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Context]:
    """A process that grades."""
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", graders=1)
    context = open_context(settings, validates=False)
    yield context
    context.close()


def imported(context: Context, folder: Path) -> int:
    return import_folder(context, folder).version.id


def test_a_loss_has_a_board_and_a_sample_and_is_at_best_zero(
    grading: Context, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny", metric="mean_absolute_error")
    version = imported(grading, folder)
    blob = grading.blobs.put(sample_submission(folder))
    graded = send_to_grader(grading, version, blob.sha256).result(30)

    facts = version_facts(grading, version, threading.Event())

    assert (facts.higher_is_better, facts.bound) == (False, 0.0)
    assert facts.board is not None
    assert sorted(facts.board.scores) == sorted(BOARD)
    assert facts.sample_digest == digest_of(graded.sketch)  # type: ignore[union-attr,arg-type]


def test_a_score_is_at_best_one(grading: Context, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny", kind="label", metric="accuracy_score")

    facts = version_facts(grading, imported(grading, folder), threading.Event())

    assert (facts.higher_is_better, facts.bound) == (True, 1.0)


def test_the_best_score_of_a_metric_py_and_a_board_that_is_not_there_are_unknown(
    grading: Context, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny", metric_py=METRIC, leaderboard=None)

    facts = version_facts(grading, imported(grading, folder), threading.Event())

    assert (facts.bound, facts.board) == (None, None)


def test_a_sample_that_the_store_has_lost_has_no_digest(grading: Context, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "tiny")
    version = imported(grading, folder)
    sample = grading.blobs.put((folder / SAMPLE_FILE).read_bytes()).sha256
    with grading.blobs.lease(sample) as lease:
        lease.path.unlink()

    assert version_facts(grading, version, threading.Event()).sample_digest is None


def test_a_process_that_ends_does_not_wait_for_the_sample(grading: Context, tmp_path: Path) -> None:
    version = imported(grading, write_competition(tmp_path / "tiny"))
    stopping = threading.Event()
    stopping.set()
    (pid,) = grading.graders.pids("grade")
    os.kill(pid, signal.SIGSTOP)  # so that no grading ends
    try:
        with pytest.raises(Stopped):
            version_facts(grading, version, stopping)
    finally:
        os.kill(pid, signal.SIGCONT)
