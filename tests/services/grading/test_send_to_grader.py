"""What a grading needs is fetched and compared before a grader gets it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.errors import Unavailable
from app.graders.messages.results import GraderFault, Rejected
from app.grading.graded import Graded
from app.services.competitions.import_folder import import_folder
from app.services.grading.send_to_grader import send_to_grader
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.blobs.disk import DiskBlobs
from tests.factories import good_submission, write_competition


@dataclass
class Grading:
    """A process that grades, and a competition whose answers are known."""

    context: Context
    folder: Path
    version: int

    def stored(self, shift: float = 0.0) -> str:
        return self.context.blobs.put(good_submission(self.folder, shift=shift)).sha256

    def place(self, sha256: str) -> Path:
        assert isinstance(self.context.blobs, DiskBlobs)
        with self.context.blobs.lease(sha256) as lease:
            return lease.path


@pytest.fixture
def grading(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Grading]:
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", graders=1
    )  # fmt: skip
    context = open_context(settings, validates=False)
    try:
        folder = write_competition(tmp_path / "tiny")
        yield Grading(context, folder, import_folder(context, folder).version.id)
    finally:
        context.close()


def test_a_file_is_scored_and_its_beginning_is_told_once(grading: Grading) -> None:
    begun: list[bool] = []

    sent = send_to_grader(
        grading.context, grading.version, grading.stored(0.25), lambda: begun.append(True)
    )

    found = sent.result(30)
    assert isinstance(found, Graded)
    assert found.score == pytest.approx(0.25)  # every value is that far from the answer
    assert begun == [True]


def test_what_is_no_submission_is_the_files_mistake(grading: Grading) -> None:
    blob = grading.context.blobs.put(b"neither,a\nsubmission,file\n")

    found = send_to_grader(grading.context, grading.version, blob.sha256).result(30)

    assert isinstance(found, Rejected)


@pytest.mark.parametrize("harm", ["lost", "damaged"])
@pytest.mark.parametrize("before", [0, 1], ids=["first", "later"])
def test_a_file_that_the_store_has_harmed_is_a_fault_of_the_store(
    grading: Grading, harm: str, before: int
) -> None:
    """Also once the version's files are at hand, and no other thread is needed to fetch them."""
    for _ in range(before):
        send_to_grader(grading.context, grading.version, grading.stored()).result(30)
    sha256 = grading.stored(0.5)
    place = grading.place(sha256)
    if harm == "lost":
        place.unlink()
    else:
        place.chmod(0o600)
        place.write_bytes(place.read_bytes()[:-3] + b"9.9")

    found = send_to_grader(grading.context, grading.version, sha256).result(30)

    assert isinstance(found, GraderFault)
    assert found.kind == "storage"


def test_answers_that_were_damaged_are_a_fault_of_the_store(grading: Grading) -> None:
    sha256 = grading.stored()
    (answers,) = (grading.context.settings.data_dir / "competitions").rglob("private/answers.csv")
    answers.chmod(0o600)
    answers.write_bytes(answers.read_bytes()[:-3] + b"9.9")

    found = send_to_grader(grading.context, grading.version, sha256).result(30)

    assert found == GraderFault("storage", "the store")


def test_a_process_that_ends_takes_no_more_files(grading: Grading) -> None:
    sha256 = grading.stored()
    grading.context.fetching.shutdown()

    with pytest.raises((Unavailable, CancelledError), match="shutting down"):
        send_to_grader(grading.context, grading.version, sha256).result(30)
