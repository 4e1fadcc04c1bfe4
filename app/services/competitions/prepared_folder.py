"""A prepared folder: made as SLUG.partial, renamed when it is complete and has its manifest."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app import __version__
from app.domain.competition import SAMPLE_FILE
from app.domain.medals import Medal
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition, Conflict
from app.graders.pool import GraderPool
from app.importers.folder import (
    MAX_FILES,
    ONE_DISK,
    check_nothing_leaks,
    stage_folder,
)
from app.importers.tree import StagedFile, list_files
from app.preparation.manifest import (
    Manifest,
    libraries,
    listed_files,
    root_digest,
    write_manifest,
)
from app.preparation.shared_bytes import share
from app.regular_file import file_digest
from app.services.competitions.check_competition import inspect
from app.services.competitions.run_prepare import PREPARE
from app.sync_directory import sync_directory

PARTIAL, OLD = ".partial", ".old"
FOLDER = "prepared"  # of the data directory
PACKED_SAMPLE = f"{SAMPLE_FILE}.gz"


@contextlib.contextmanager
def partial_folder(target: Path) -> Iterator[Path]:
    """An empty directory next to `target`, to be filled by the caller. It is removed at the end.

    Leftovers of an interrupted preparation are removed first.

    Raises:
        Conflict: another process is preparing the same.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + PARTIAL)
    try:
        lock = _made_and_locked(partial)
    except BlockingIOError:
        raise Conflict(f"Another process is preparing {target.name} in {partial}.") from None
    try:
        _recover(target)
        for left in partial.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    finally:
        os.close(lock)


def _made_and_locked(partial: Path) -> int:
    """Make and lock the directory. If another process removes it in between, make it again.

    Raises:
        BlockingIOError: another process has locked it.
    """
    while True:
        with contextlib.suppress(FileExistsError):
            partial.mkdir()
        with contextlib.suppress(FileNotFoundError), contextlib.ExitStack() as if_it_fails:
            lock = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            if_it_fails.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), partial.stat()):
                if_it_fails.pop_all()
                return lock


def remove_interrupted(target: Path) -> None:
    """Remove leftovers of an interrupted preparation of a complete folder."""
    places = (target.with_name(target.name + ending) for ending in (PARTIAL, OLD))
    if any(place.exists() for place in places):
        with contextlib.suppress(Conflict), partial_folder(target):
            pass


def complete(
    made: Path,
    target: Path,
    graders: GraderPool,
    *,
    source: dict[str, Any],
    grading_only: bool,
    code: Path | None,
    progress: Callable[[str, int], None] | None = None,
) -> Manifest:
    """Test the folder `made`, write its manifest, and rename it to `target`.

    An older `target` is replaced. `code` is the prepare.py that made it, if one did.

    Raises:
        BadCompetition: the self-test failed, or an import would refuse a file. `target` stays as
            it was.
    """
    tested = self_test(graders, made)
    list_files(made, max_files=MAX_FILES)  # what an import would refuse, before all are read
    files = listed_files(made, progress)
    check_nothing_leaks([StagedFile(one.name, one.bytes, one.sha256) for one in files])
    manifest = Manifest(
        competition=target.name,
        prepared_at=datetime.now(UTC).isoformat(timespec="seconds"),
        grading_only=grading_only,
        root=root_digest(files),
        source=source,
        made_by={
            "podium": __version__,
            **({PREPARE: file_digest(code)[1]} if code is not None else {}),
            **libraries(),
        },
        self_test=asdict(tested),
        files=files,
    )
    write_manifest(made, manifest)
    sync_directory(made)
    old = target.with_name(target.name + OLD)
    if target.exists():
        target.rename(old)
    made.rename(target)
    sync_directory(target.parent)
    shutil.rmtree(old, ignore_errors=True)
    return manifest


def _recover(target: Path) -> None:
    """Undo a replacement that was interrupted between its two renames; remove what it left."""
    old = target.with_name(target.name + OLD)
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(old, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The results of the self-test. A score is None if it cannot be computed.

    `answers_medal` is the medal of the answers as a submission. It is also None if the medal lines
    are unknown, or better than the metric's best score (check these).
    """

    rows: int | None
    answers_score: float | None
    answers_medal: str | None
    sample_score: float | None
    gold_line: float | None


def self_test(graders: GraderPool, folder: Path) -> SelfTest:
    """Test a prepared folder as an import does. The sample is the only public file that is read.

    Raises:
        BadCompetition: the answers do not score best, the sample submission is not valid, the
            score of the gold line does not win gold, or the data is not all there.
    """
    scratch = Path(tempfile.mkdtemp(prefix=".testing-", dir=folder.parent))
    try:
        small = scratch / folder.name
        _link_what_a_grader_reads(folder, small)
        staged = stage_folder(small, scratch / "staged", max_bytes=ONE_DISK)
        if staged.status is not CompetitionStatus.READY:
            message = "there are no answers: prepare.py did not write the file that is declared"
            raise BadCompetition([_problem(f"private/{staged.competition.answers.file}", message)])
        found = inspect(graders, staged)
        board = staged.leaderboard
        gold = board.lines.gold if board is not None else None
        medal = None
        if board is not None and gold is not None:
            if board.medal(gold) is not Medal.GOLD:
                raise BadCompetition([_problem("", f"the gold line {gold} does not win gold")])
            if found.answers_score is not None:
                medal = board.medal(found.answers_score)
        return SelfTest(found.rows, found.answers_score, medal, found.sample_score, gold)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _link_what_a_grader_reads(folder: Path, small: Path) -> None:
    names = [path.relative_to(folder) for path in folder.iterdir() if path.is_file()]
    names += [
        path.relative_to(folder) for path in (folder / "private").rglob("*") if path.is_file()
    ]
    names += [Path(name) for name in (SAMPLE_FILE, PACKED_SAMPLE) if (folder / name).is_file()]
    for name in names:
        (small / name).parent.mkdir(parents=True, exist_ok=True)
        share(folder / name, small / name)


def _problem(file: str, message: str) -> dict[str, str]:
    return {"file": file, "key": "", "message": f"self-test: {message}"}
