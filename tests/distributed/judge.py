"""What graded submissions are held to: the grades that one grader gives, undisturbed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.grading.graded import Graded
from tests.distributed.cluster import Cluster
from tests.factories import good_submission, write_competition, write_submission
from tests.graders.pool import FolderPool

FILES = 20
# Sleeps as long as the file says, in seconds after the digits of the first prediction.
SLOW = """
import time

def score(answers, submission):
    if 500 < submission['target'].iloc[0] < 600:
        time.sleep(submission['target'].iloc[0] - 500)
    else:
        time.sleep(0.2)  # so that few files keep a cluster busy
    return float(abs(answers['target'] - submission['target']).iloc[1:].max())
"""
COMPARED = (
    "score", "public_score", "medal", "better", "equal", "worse", "teams", "percentile",
    "above_median",
)  # fmt: skip


def slow_competition(home: Path, metric_py: str = SLOW) -> Path:
    return write_competition(home / "slow", rows=50, metric="my_error", metric_py=metric_py)


def bodies(folder: Path, count: int = FILES) -> list[bytes]:
    """Files with a score each of its own."""
    return [good_submission(folder, shift=0.001 * (n + 1)) for n in range(count)]


def one_of(folder: Path, seconds: float, shift: float) -> bytes:
    """A file that takes so long to grade."""
    lines = good_submission(folder, shift=shift).decode().splitlines()
    return "\n".join([lines[0], f"r1,{500 + seconds}", *lines[2:]]).encode()


class Judge:
    """Compares a cluster's grades with those of one grader in this process, which never sleeps."""

    record: Callable[[str, object], None]  # of the test that runs

    def __init__(self, grader: FolderPool, home: Path) -> None:
        self._grader = grader
        self._home = home
        self._folder = slow_competition(home, SLOW.replace("time.sleep", "abs"))
        self._grades: dict[bytes, dict[str, Any]] = {}  # of files that a test before this one sent

    def undisturbed(self, file: bytes) -> dict[str, Any]:
        if file not in self._grades:
            path = write_submission(self._home / "file.csv", file)
            outcome = self._grader.grade(self._folder, path).result(60)
            assert isinstance(outcome, Graded), outcome
            standing = asdict(outcome.standing) if outcome.standing else {}
            scores = {"score": outcome.score, "public_score": outcome.public_score}
            self._grades[file] = {**scores, **standing}
        return self._grades[file]

    def assert_right(self, made: Cluster, sent: list[str], files: list[bytes]) -> None:
        """Each of the acknowledged submissions `sent` has one grade, the one its file deserves."""
        found = made.settled(sent)
        numbers = made.grades(sent)
        wrong = [
            one["id"]
            for one, file in zip(found, files, strict=True)
            if one["state"] != "graded" or shown(one["grade"]) != shown(self.undisturbed(file))
        ]
        self.say(
            f"{len(sent)} acknowledged; submissions by number of grades {numbers}; "
            f"other than undisturbed: {len(wrong)}",
        )
        assert [one["id"] for one in found] == sent
        assert wrong == []
        assert numbers == {1: len(set(sent))} == {1: len(files)}

    def say(self, counted: str) -> None:
        """Show it at the end of the tests, beside the test's name."""
        self.record("counts", counted)


def shown(grade: dict[str, Any]) -> dict[str, Any]:
    return {name: grade[name] for name in COMPARED}
