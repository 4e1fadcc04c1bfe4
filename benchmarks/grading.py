"""Grading beside the reference way, and beside parsing the file alone.

Three ways take turns, so that a noisy machine is noisy for all of them:

- reference: pandas reads submission and answers from disk, both are sorted by id, and the
  scikit-learn metric is called, as MLE-bench grades; nothing is kept between two gradings
- podium: the whole of `grade`, answers decoded beforehand as a warm grader has them
- parse: `pyarrow.csv.read_csv` on the same file and nothing else
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score, root_mean_squared_error

from app.domain.competition import Competition, parse_competition
from app.domain.leaderboard import Leaderboard
from app.graders.program.tasks import warm_up
from app.grading.check import read_ids
from app.grading.decode_answers import decode_answers
from app.grading.grade import grade
from app.grading.scorer import scorer_for

ROWS = (1_000, 100_000, 600_000)
ROUNDS = {1_000: 60, 100_000: 15, 600_000: 7}
CLASSES = ("a", "b", "c")


@dataclass(frozen=True)
class Task:
    """A metric with columns of its kind, and random data for it."""

    metric: str
    columns: dict[str, str]
    data: Callable[[np.random.Generator, int], tuple[pd.DataFrame, pd.DataFrame]]
    reference: Callable[[np.ndarray, np.ndarray], float]


def labels(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    truth = rng.integers(0, 7, rows)
    guess = np.where(rng.random(rows) < 0.7, truth, rng.integers(0, 7, rows))
    return pd.DataFrame({"y": truth}), pd.DataFrame({"y": guess})


def chances(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    truth = rng.integers(0, 2, rows)
    guess = np.clip(truth * 0.3 + rng.random(rows) * 0.7, 0, 1)
    return pd.DataFrame({"y": truth}), pd.DataFrame({"y": guess})


def numbers(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    truth = rng.normal(10, 3, rows)
    return pd.DataFrame({"y": truth}), pd.DataFrame({"y": truth + rng.normal(0, 1, rows)})


def classes(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    truth = np.eye(3, dtype=int)[rng.integers(0, 3, rows)]
    guess = rng.dirichlet((1, 1, 1), rows) * 0.6 + truth * 0.4
    return pd.DataFrame(truth, columns=CLASSES), pd.DataFrame(guess, columns=CLASSES)


TASKS = (
    Task("accuracy_score", {"y": '{ kind = "integer" }'}, labels, accuracy_score),
    Task("roc_auc_score", {"y": '{ kind = "probability" }'}, chances, roc_auc_score),
    Task("root_mean_squared_error", {"y": '{ kind = "number" }'}, numbers, root_mean_squared_error),
    Task("log_loss", dict.fromkeys(CLASSES, '{ kind = "probability" }'), classes, log_loss),
)


def main() -> None:
    warm_up()  # as a grader does first
    print("Grading: milliseconds, medians; the ways take turns")
    print(f"{'metric':<26}{'rows':>9}{'reference':>11}{'podium':>9}{'parse':>9}"
          f"{'ref/podium':>12}{'podium/parse':>14}")  # fmt: skip
    speed_ups, overheads = [], []
    for task in TASKS:
        for rows in ROWS:
            reference, podium, parse = measure(task, rows)
            speed_ups.append(reference / podium)
            overheads.append(podium / parse)
            print(f"{task.metric:<26}{rows:>9,}{reference:>11.3f}{podium:>9.3f}{parse:>9.3f}"
                  f"{speed_ups[-1]:>11.1f}x{overheads[-1]:>13.2f}x")  # fmt: skip
    print(f"{'geometric mean':<64}{geometric_mean(speed_ups):>11.1f}x"
          f"{geometric_mean(overheads):>13.2f}x")  # fmt: skip


def measure(task: Task, rows: int) -> tuple[float, float, float]:
    """Median milliseconds of the reference, of Podium, and of parsing alone."""
    rng = np.random.default_rng(rows)
    truth, guess = task.data(rng, rows)
    ids = pd.Series([f"id_{n:07d}" for n in range(rows)], name="id")
    with tempfile.TemporaryDirectory() as directory:
        answers_file, submission_file = Path(directory) / "answers.csv", Path(directory) / "s.csv"
        pd.concat([ids, truth], axis=1).to_csv(answers_file, index=False)
        pd.concat([ids, guess], axis=1).to_csv(submission_file, index=False)
        ours = podium_way(task, answers_file, submission_file, rows)

        def theirs() -> float:
            return reference_way(task, answers_file, submission_file)

        difference = abs(ours() - theirs())
        if difference > 1e-9:
            raise AssertionError(f"{task.metric}: scores differ by {difference}")
        ways = (theirs, ours, lambda: pa_csv.read_csv(submission_file))
        times: list[list[float]] = [[], [], []]
        for _ in range(ROUNDS[rows]):
            for way, spent in zip(ways, times, strict=True):
                started = time.perf_counter()
                way()
                spent.append(time.perf_counter() - started)
    reference, podium, parse = (1000 * median(spent) for spent in times)
    return reference, podium, parse


def reference_way(task: Task, answers_file: Path, submission_file: Path) -> float:
    """Both files read anew, sorted by id, compared, scored."""
    submission = pd.read_csv(submission_file, float_precision="round_trip")
    answers = pd.read_csv(answers_file, float_precision="round_trip")
    submission = submission.sort_values("id").reset_index(drop=True)
    answers = answers.sort_values("id").reset_index(drop=True)
    if not (submission["id"] == answers["id"]).all():
        raise ValueError("ids differ")
    columns = list(task.columns)
    guess, truth = submission[columns].to_numpy(), answers[columns].to_numpy()
    if len(columns) == 1:
        guess, truth = guess[:, 0], truth[:, 0]
    return float(task.reference(truth, guess))


def podium_way(
    task: Task, answers_file: Path, submission_file: Path, rows: int
) -> Callable[[], float]:
    """Everything a warm grader does with a submission: read, check, align, score, place."""
    competition = declare(task)
    sample = answers_file.read_bytes()  # only its ids are read
    answers = decode_answers(
        answers_file.read_bytes(), competition, read_ids(sample, competition.form), frames=False
    )
    scorer = scorer_for(competition, None)
    board = Leaderboard.full(
        np.random.default_rng(0).random(3000), higher_is_better=competition.metric.higher_is_better
    )
    return lambda: grade(submission_file.read_bytes(), competition, answers, board, scorer).score


def declare(task: Task) -> Competition:
    columns = "\n".join(f"{name} = {kind}" for name, kind in task.columns.items())
    return parse_competition(
        "benchmark",
        f'title = "Benchmark"\nversion = 1\n[metric]\nname = "{task.metric}"\n'
        f'[submission]\nid = "id"\n[submission.columns]\n{columns}\n',
    )
