"""Graders and reports with MLE-bench's names. Podium grades."""

from __future__ import annotations

import logging
import tempfile
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mlebench.data import MedalLines
from mlebench.podium import Document, from_environment
from mlebench.utils import DIGEST, PATH, digest

log = logging.getLogger(__name__)


class InvalidSubmissionError(Exception):
    """The file is not a valid submission."""


@dataclass(frozen=True)
class CompetitionReport:
    """The grade of one submission at one competition."""

    competition_id: str
    score: float | None
    gold_threshold: float | None
    silver_threshold: float | None
    bronze_threshold: float | None
    median_threshold: float | None
    any_medal: bool
    gold_medal: bool
    silver_medal: bool
    bronze_medal: bool
    above_median: bool
    submission_exists: bool
    valid_submission: bool
    is_lower_better: bool
    created_at: datetime
    submission_path: str

    def to_dict(self) -> Document:
        """The report as a JSON document."""
        return {**asdict(self), "created_at": self.created_at.isoformat()}

    @classmethod
    def from_dict(cls, data: Document) -> CompetitionReport:
        """The report of a JSON document."""
        at = data["created_at"]
        at = at if isinstance(at, datetime) else datetime.fromisoformat(at)
        return cls(**{**data, "created_at": at})


class Grader:
    """The grader of one competition: called with a frame and the stand-in for its answers."""

    def __init__(self, competition_id: str) -> None:
        self.name = competition_id
        self._competition = competition_id
        self._report: Document | None = None  # of the last file, which `rank_score` is asked about

    def __call__(self, submission: Any, answers: Any) -> float | None:
        """The score, rounded to five places; None for an invalid submission, as in MLE-bench.

        Raises:
            PodiumError: Podium did not grade.
        """
        try:
            return self.grade_fn(submission, answers)
        except InvalidSubmissionError as error:
            log.warning("Invalid submission: %s", error)
            return None

    def grade_fn(self, submission: Any, answers: Any) -> float:
        """The score, rounded to five places.

        Raises:
            InvalidSubmissionError: the submission is not valid.
            PodiumError: Podium did not grade.
        """
        known = submission.attrs.get(PATH)
        if known and Path(known).is_file() and submission.attrs.get(DIGEST) == digest(submission):
            report = self.grade_file(Path(known))
        else:  # it was not read from a file, or changed since
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "submission.csv"
                submission.to_csv(file, index=False)
                report = self.grade_file(file)
        return float(report["score"])

    def grade_file(self, file: Path) -> Document:
        """The report of a valid file.

        Raises:
            InvalidSubmissionError: the file is not valid.
            PodiumError: Podium did not grade.
        """
        podium = from_environment()
        self._report = podium.grade(self._competition, file)
        if not self._report["valid_submission"]:
            found = podium.grade(self._competition, file, form="podium")["violations"]
            raise InvalidSubmissionError("; ".join(one["message"] for one in found))
        return self._report

    def is_lower_better(self, leaderboard: MedalLines) -> bool:
        """Whether lower scores are better."""
        return leaderboard.is_lower_better

    def rank_score(self, score: float | None, leaderboard: MedalLines) -> Document:
        """The medal of a score. That of the last graded file is Podium's, which does not round."""
        lines = asdict(leaderboard)
        is_lower_better = lines.pop("is_lower_better")
        if self._report is not None and score is not None and score == self._report["score"]:
            return {**{name: self._report[name] for name in FLAGS}, **lines}

        def reaches(line: float | None) -> bool:
            if score is None or line is None:
                return False
            return score <= line if is_lower_better else score >= line

        gold, silver, bronze, median = lines.values()
        medals = [reaches(gold), reaches(silver), reaches(bronze)]
        best = medals.index(True) if True in medals else None
        return {
            "gold_medal": best == 0,
            "silver_medal": best == 1,
            "bronze_medal": best == 2,
            "above_median": reaches(median) and score != median,
            **lines,
        }


FLAGS = ("gold_medal", "silver_medal", "bronze_medal", "above_median")
