"""MLE-bench's own grader as the reference, from a checkout that the caller has.

Its code is run and never copied here. Its packages have to be importable (`levenshtein`,
`pycocotools`, `shapely`, `pyquaternion`, `py7zr`, `appdirs` beside ours), and its leaderboards
fetched, since they are Git LFS files.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import yaml

from benchmarks.families.measure import Place


def peers_way(checkout: Path, slug: str, place: Place) -> Callable[[], float]:
    """The work of `mlebench grade-sample` in a warm process: read both files, grade, rank.

    Raises:
        FileNotFoundError: the folder is not a checkout of MLE-bench with this competition.
        ValueError: the leaderboard is a Git LFS pointer.
    """
    folder = checkout / "mlebench" / "competitions" / slug
    config = yaml.safe_load((folder / "config.yaml").read_text())
    board = folder / "leaderboard.csv"
    if board.read_bytes().startswith(b"version https://git-lfs"):
        raise ValueError(f"{board} is a pointer: run `git lfs pull` in the checkout")
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    theirs = importlib.import_module("mlebench.utils")
    grader = importlib.import_module("mlebench.grade_helpers").Grader(**config["grader"])
    # Their reader goes by the suffix.
    answers = place.original.with_suffix(Path(config["dataset"]["answers"]).suffix)
    if not answers.exists():
        answers.symlink_to(place.original)

    def peer() -> float:
        score = grader.grade_fn(theirs.read_csv(place.submission), theirs.load_answers(answers))
        ranking = pd.read_csv(board)
        grader.rank_score(score, ranking)
        grader.is_lower_better(ranking)
        return float(score)

    return peer
