"""Write a competition folder from the parts of a split table."""

from __future__ import annotations

import csv
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from app.domain.competition import TOML, parse_competition
from app.domain.wording import toml_value
from app.errors import Invalid
from app.metrics import METRICS, problems
from app.preparation.from_table.target import Target, answers

LONGEST = 40  # characters of a value in the description


@dataclass(frozen=True, slots=True)
class Parts:
    """A split table: `id` and `column` are its columns of ids and of the target.

    `test` has the target too, in the order of the test set; `usage` says of each of its rows
    whether it is Public or Private.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    id: str
    column: str
    usage: list[str]


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """Further facts for competition.toml: the leaderboard's source, the baseline."""

    title: str
    leaderboard: str = ""
    baseline: dict[str, object] | None = None


def with_ids(table: pd.DataFrame, own: str | None, seed: int) -> tuple[pd.DataFrame, str]:
    """The table with an id column in front: `own`, or one with shuffled whole numbers."""
    if own is not None:
        return table, own
    further = (f"podium_id_{number}" for number in itertools.count(2))
    names = itertools.chain(("id", "row_id", "podium_id"), further)
    name = next(name for name in names if name not in table.columns)
    made = np.random.default_rng(seed).permutation(len(table)) + 1
    copy = table.copy()
    copy.insert(0, name, [str(one) for one in made])
    return copy, name


def write_folder(folder: Path, parts: Parts, target: Target, about: FolderFacts) -> None:
    """Write all files of the competition except a leaderboard. The folder must be empty.

    Raises:
        BadCompetition, Invalid: no competition has such columns, or the metric does not take them.
    """
    declared = declaration(parts, target, about)
    if messages := problems(parse_competition(folder.name, declared)):
        raise Invalid("; ".join(messages))
    truth = answers(parts.test[parts.column], target)
    ids = parts.test[parts.id]
    common = answers(parts.train[parts.column], target).mode().iloc[0]
    for name in ("public", "private"):
        (folder / name).mkdir()
    write_csv(parts.train, folder / "public" / "train.csv")
    write_csv(parts.test.drop(columns=parts.column), folder / "public" / "test.csv")
    sample = pd.DataFrame({parts.id: ids, parts.column: _guess(target, common)})
    write_csv(sample, folder / "public" / "sample_submission.csv")
    held = pd.DataFrame({parts.id: ids, parts.column: truth, "Usage": parts.usage})
    write_csv(held, folder / "private" / "answers.csv")
    (folder / TOML).write_text(declared, encoding="utf-8")
    (folder / "description.md").write_text(
        description(about.title, parts, target), encoding="utf-8"
    )


def declaration(parts: Parts, target: Target, about: FolderFacts) -> str:
    """The text of competition.toml."""
    least = "" if target.least is None else f", min = {target.least:g}"
    lines = [
        f"title = {toml_value(about.title)}",
        "version = 1",
        'category = "Tabular"',
        "",
        "[metric]",
        f"name = {toml_value(target.metric)}",
        "",
        "[submission]",
        f"id = {toml_value(parts.id)}",
        "",
        "[submission.columns]",
        f"{toml_value(parts.column)} = {{ kind = {toml_value(target.kind)}{least} }}",
    ]
    if about.leaderboard:
        lines += ["", "[leaderboard]", f"source = {toml_value(about.leaderboard)}"]
    if about.baseline is not None:
        stated = (f"{key} = {toml_value(it)}" for key, it in about.baseline.items())
        lines += ["", "[baseline]", *stated]
    return "\n".join(lines) + "\n"


def description(title: str, parts: Parts, target: Target) -> str:
    """A draft of the task: columns, metric and the form of a submission."""
    metric = METRICS[target.metric]
    better = "higher" if metric.higher_is_better else "lower"
    predicted = _code(parts.column)
    asked = {
        "probability": f"the probability that {predicted} is 1",
        "number": f"{predicted}, a number",
    }.get(target.kind, f"{predicted}, one of the values of the training data")
    rows = [
        f"| {_cell(name)} | {_values(parts.train[name])} |"
        for name in parts.train.columns
        if name not in (parts.id, parts.column)
    ]
    task = (
        f"Predict {asked}, for each of the {len(parts.test):,} rows of `test.csv`. `train.csv` "
        f"has {len(parts.train):,} rows with their {predicted}."
    )
    evaluation = (
        f"Submissions are scored by `{target.metric}`; {better} is better. Write a CSV file with "
        f"the columns {_code(parts.id)} and {predicted} and one row for every id of "
        "`sample_submission.csv`."
    )
    columns = ["| column | values |", "| --- | --- |", *rows]
    lines = [f"# {title}", "", task, "", "## Evaluation", evaluation, "", "## Columns", *columns]
    return "\n".join(lines) + "\n"


def _values(column: pd.Series[str]) -> str:
    filled = column[column != ""]
    lacking = len(column) - len(filled)
    empty = f"; empty in {lacking:,} {'row' if lacking == 1 else 'rows'}" if lacking else ""
    found = pd.to_numeric(filled, errors="coerce")
    if len(filled) and found.notna().all():
        return f"numbers from {found.min():g} to {found.max():g}{empty}"
    distinct = sorted(set(filled))
    if 0 < len(distinct) <= 10:
        shown = (one if len(one) <= LONGEST else f"{one[: LONGEST - 1]}…" for one in distinct)
        return ", ".join(map(_cell, shown)) + empty
    return f"{len(distinct):,} different texts{empty}"


def _cell(text: str) -> str:
    """The text as code in a cell of a table in Markdown."""
    return _code(text).replace("|", "\\|")


def _code(text: str) -> str:
    """A text in Markdown as code, which shows each character; a line feed is a space.

    >>> _code("price"), _code("`a`"), _code("")
    ('`price`', '`` `a` ``', '` `')
    """
    line = " ".join(text.splitlines()) or " "
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def _guess(target: Target, common: str) -> str:
    return {"probability": "0.5", "number": "0"}.get(target.kind, common)


def write_csv(table: pd.DataFrame, file: Path) -> None:
    """Write a table so that readers find the same cells in it."""
    # Before Python 3.13 the module csv does not quote a single CR, which ends a line for readers.
    names = pd.Series(table.columns, dtype=object)
    cells = (names, *(table[name] for name in table.columns))
    has_return = any(each.str.contains("\r", regex=False).any() for each in cells)
    quoting: Literal[0, 1] = csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL
    table.to_csv(file, index=False, lineterminator="\n", encoding="utf-8", quoting=quoting)
