"""The test that ends a preparation: answers score best, the sample is valid, gold is gold."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.domain.medals import Medal
from app.domain.states import CompetitionStatus
from app.errors import BadCompetition
from app.graders.pool import GraderPool
from app.importers.folder import ONE_DISK, SAMPLE, stage_folder
from app.preparation.shared_bytes import share
from app.services.competitions.import_folder import inspect

PACKED_SAMPLE = f"{SAMPLE}.gz"


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What was tried. A score is None where it cannot be said.

    `answers_medal` is that of the answers, submitted: None also where the medal lines are not known
    or, which is worth a look, lie beyond the best score that the metric gives.
    """

    rows: int | None
    answers_score: float | None
    answers_medal: str | None
    sample_score: float | None
    gold_line: float | None


def self_test(graders: GraderPool, folder: Path) -> SelfTest:
    """Try a prepared folder as an import does. Of its public files only the sample is read.

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
    names += [Path(name) for name in (SAMPLE, PACKED_SAMPLE) if (folder / name).is_file()]
    for name in names:
        (small / name).parent.mkdir(parents=True, exist_ok=True)
        share(folder / name, small / name)


def _problem(file: str, message: str) -> dict[str, str]:
    return {"file": file, "key": "", "message": f"self-test: {message}"}
