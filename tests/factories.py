"""Small competitions and submissions for tests, written as files in the way an admin would."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

METRIC_OF_KIND = {
    "number": "root_mean_squared_error",
    "integer": "mean_absolute_error",
    "probability": "log_loss",
    "boolean": "accuracy_score",
    "label": "accuracy_score",
}
VALUE_OF_KIND: dict[str, Callable[[random.Random], str]] = {
    "number": lambda chance: repr(chance.uniform(-10.0, 10.0)),
    "integer": lambda chance: str(chance.randint(0, 99)),
    "probability": lambda chance: str(chance.randint(0, 1)),
    "boolean": lambda chance: chance.choice(["True", "False"]),
    "label": lambda chance: chance.choice(["ant", "bee", "cat"]),
    "text": lambda chance: "".join(chance.choices("abcdef", k=8)),
    "list": lambda chance: " ".join(chance.sample(["ant", "bee", "cat", "dog"], 2)),
}
SAMPLE_OF_KIND = {
    "number": "0.0", "integer": "0", "probability": "0.5", "boolean": "False", "label": "ant",
    "text": "a", "list": "ant",
}  # fmt: skip
# scores of the human board, from the best; for metrics where higher is better they are 1 - these
BOARD = tuple(0.05 * place for place in range(1, 13))


def write_competition(
    folder: Path,
    *,
    rows: int = 20,
    kind: str = "number",
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    metric: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    usage: Sequence[str] | None = ("Public", "Private"),
    leaderboard: Sequence[float] | None = BOARD,
    metric_py: str | None = None,
    toml: str = "",
    seed: int = 0,
) -> Path:
    """A complete competition folder at `folder`; gives `folder` back.

    It has `rows` rows with ids "r1", "r2", ... and one column `target` of `kind`, or the given
    `columns` (name to what the toml says of it). `usage` is repeated over the rows; None leaves the
    column out. `leaderboard` goes to leaderboard.csv; None leaves the file out. `metric_py` is the
    text of a metric.py. `toml` is put at the end of competition.toml. `seed` changes the answers.
    """
    columns = columns or {"target": {"kind": kind}}
    kinds = {name: column["kind"] for name, column in columns.items()}
    metric = metric or ("my_error" if metric_py else METRIC_OF_KIND[next(iter(kinds.values()))])
    for part in ("public", "private"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "competition.toml").write_text(
        _toml(metric, parameters or {}, columns, has_board=leaderboard is not None) + toml
    )
    (folder / "description.md").write_text("# Tiny\n\nPredict `target`.\n")
    (folder / "public" / "train.csv").write_text("id,feature,target\nt1,1,2\n")
    ids = [f"r{row}" for row in range(1, rows + 1)]
    chance = random.Random(seed)
    answers = [[VALUE_OF_KIND[k](chance) for k in kinds.values()] for _ in ids]
    header = ["id", *kinds]
    _write_csv(
        folder / "public" / "sample_submission.csv",
        header,
        ([i, *(SAMPLE_OF_KIND[k] for k in kinds.values())] for i in ids),
    )
    if usage is None:
        marked = [[i, *values] for i, values in zip(ids, answers, strict=True)]
    else:
        header = [*header, "Usage"]
        marked = [
            [i, *values, usage[row % len(usage)]]
            for row, (i, values) in enumerate(zip(ids, answers, strict=True))
        ]
    _write_csv(folder / "private" / "answers.csv", header, marked)
    if leaderboard is not None:
        up = metric.endswith(("_score", "_corrcoef"))
        scores = [1.0 - score for score in leaderboard] if up else list(leaderboard)
        _write_csv(folder / "leaderboard.csv", ["score"], ([repr(score)] for score in scores))
    if metric_py is not None:
        (folder / "metric.py").write_text(metric_py)
    return folder


def good_submission(folder: Path, *, shift: float = 0.0) -> bytes:
    """The answers of the competition at `folder` as a submission, with `shift` added to numbers."""
    with (folder / "private" / "answers.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    width = len(header) - (header[-1] == "Usage")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header[:width])
    writer.writerows([row[0], *(_shifted(cell, shift) for cell in row[1:width])] for row in rows)
    return text.getvalue().encode()


def wide_submission(folder: Path, *, digits: int = 200) -> bytes:
    """`good_submission` with zeros after each number without an exponent: large, with few rows."""
    header, *lines = good_submission(folder).splitlines()
    zeros = b"0" * digits
    return b"\n".join([header, *(line if b"e" in line else line + zeros for line in lines)]) + b"\n"


def sample_submission(folder: Path) -> bytes:
    """The sample submission of the competition at `folder`."""
    return (folder / "public" / "sample_submission.csv").read_bytes()


def write_submission(file: Path, data: bytes) -> Path:
    """`data` as a file on disk; gives `file` back."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def _shifted(cell: str, shift: float) -> str:
    return repr(float(cell) + shift) if shift else cell


def _toml(
    metric: str,
    parameters: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Any]],
    *,
    has_board: bool,
) -> str:
    lines = ['title = "Tiny"', "version = 1", "[metric]", f'name = "{metric}"']
    if parameters:
        lines.append(f"parameters = {_inline(parameters)}")
    lines += ["[submission]", 'id = "id"', "[submission.columns]"]
    lines += [f"{json.dumps(name)} = {_inline(column)}" for name, column in columns.items()]
    if has_board:
        lines += ["[leaderboard]", 'source = "a test"']
    return "\n".join(lines) + "\n"


def _inline(table: Mapping[str, Any]) -> str:
    # JSON's strings, numbers, booleans and lists are TOML's too
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


def _write_csv(file: Path, header: Sequence[str], rows: Any) -> None:
    with file.open("w", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
