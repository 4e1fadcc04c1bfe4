"""Competitions by id. Nothing is read until it is asked for."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from mlebench.grade_helpers import Grader
from mlebench.podium import PodiumError

DEFAULT_DATA_DIR = Path("~/.cache/mle-bench/data")


@dataclass(frozen=True)
class Competition:
    """A competition. Files below `private_dir` do not exist: they are on Podium."""

    id: str
    data_dir: Path
    grader: Grader = field(compare=False)

    @property
    def name(self) -> str:
        """The id; the title is in the description."""
        return self.id

    @property
    def raw_dir(self) -> Path:
        """The directory of Kaggle's files."""
        return self.data_dir / self.id / "raw"

    @property
    def public_dir(self) -> Path:
        """The directory of the public files."""
        return self.data_dir / self.id / "prepared" / "public"

    @property
    def private_dir(self) -> Path:
        """The directory where the original has answers."""
        return self.data_dir / self.id / "prepared" / "private"

    @property
    def answers(self) -> Path:
        """A path for `load_answers`, which does not open it."""
        return self.private_dir / "answers.csv"

    @property
    def sample_submission(self) -> Path:
        """The sample submission, if the harness has the public files."""
        return self.public_dir / "sample_submission.csv"

    @property
    def leaderboard(self) -> Path:
        """A path that does not exist: `data.get_leaderboard` has the medal lines."""
        return self.private_dir / "leaderboard.csv"

    @property
    def checksums(self) -> Path:
        """A path that does not exist: Podium checks its files itself."""
        return self.private_dir / "checksums.yaml"

    @property
    def description(self) -> str:
        """The task, if the harness has the public files.

        Raises:
            PodiumError: it has not.
        """
        file = self.public_dir / "description.md"
        if not file.is_file():
            raise PodiumError(
                f"{file} does not exist: the description of {self.id} is read with a run's key, at "
                f"/v1/competitions/{self.id}/description of Podium."
            )
        return file.read_text()


class Registry:
    """MLE-bench's competitions, and all others that the Podium has."""

    def __init__(self, data_dir: Path | None = None) -> None:
        chosen = data_dir or os.environ.get("MLEBENCH_DATA_DIR") or DEFAULT_DATA_DIR
        self._data_dir = Path(chosen).expanduser()

    def get_competition(self, competition_id: str) -> Competition:
        """The competition with this id. Whether Podium has it is known when it is graded.

        Raises:
            ValueError: this cannot be an id.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", competition_id):
            raise ValueError(f"{competition_id!r} is not the id of a competition")
        return Competition(competition_id, self._data_dir, Grader(competition_id))

    def list_competition_ids(self) -> list[str]:
        """The ids of MLE-bench's 75 competitions."""
        return _ids("mle-bench.txt")

    def get_lite_competition_ids(self) -> list[str]:
        """The ids of the competitions of low complexity."""
        return _ids("mle-bench-low.txt")

    def set_data_dir(self, new_data_dir: Path) -> Registry:
        """A registry with another directory of public files."""
        return Registry(Path(new_data_dir))

    def get_data_dir(self) -> Path:
        """The directory of public files."""
        return self._data_dir


def _ids(file: str) -> list[str]:
    return resources.files("mlebench").joinpath(file).read_text().split()


registry = Registry()
