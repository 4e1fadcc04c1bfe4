"""`podium new`: make a complete competition folder from the user's own table."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from app.domain.competition import SLUG, TOML
from app.domain.read_leaderboard import FILE as LEADERBOARD
from app.domain.wording import counted
from app.errors import Conflict, Invalid
from app.graders.messages.results import GraderFault, GradingResult, Rejected
from app.preparation.from_table import baseline
from app.preparation.from_table.leaks import leaks
from app.preparation.from_table.new_folder import (
    FolderFacts,
    Parts,
    declaration,
    with_ids,
    write_csv,
    write_folder,
)
from app.preparation.from_table.split import How, Rows, choose
from app.preparation.from_table.tables import read_table
from app.preparation.from_table.target import Target, propose
from app.preparation.search_rows import LEAST

MIN_ROWS = 20
Grade = Callable[[Path, Path], GradingResult]  # grades a file with a competition folder


@dataclass(frozen=True, slots=True)
class NewCompetitionChoices:
    """The admin's choices. `by` is the column of groups or times; `id` a column of the table.

    `public_share` is that of the test set, `search_share` that of the other rows of the test set.
    """

    data: Path
    target: str
    title: str = ""
    id: str | None = None
    how: How | None = None
    by: str | None = None
    test_share: float = 0.2
    public_share: float = 0.3
    search_share: float = 0.0
    metric: str = ""
    seed: int = 0
    with_baseline: bool = True
    leaderboard: Path | None = None
    origin: str = ""  # where the table is from, for the README; empty: the name of its file


@dataclass(frozen=True, slots=True)
class Made:
    """The new folder and its facts, for the admin to read."""

    folder: Path
    target: Target
    how: How
    train_rows: int
    public_rows: int
    search_rows: int
    private_rows: int
    baseline_score: float | None
    leaks: list[str]


def new_competition(folder: Path, choices: NewCompetitionChoices, grade: Grade) -> Made:
    """Make the folder; `grade` grades the baseline. If this fails, no files stay.

    Raises:
        Conflict: the folder exists already.
        Invalid: the name, the table or a choice does not serve; the text says which and why.
    """
    require_new(folder)
    table = read_table(choices.data)
    if len(table) < MIN_ROWS:
        raise Invalid(f"{choices.data} has {len(table)} rows; {MIN_ROWS} are the fewest.")
    named = {"--target": choices.target, "--id": choices.id, "--group or --time": choices.by}
    for role, column in named.items():
        _require_column(table, role, column)
    _require_roles(table, choices)
    target = propose(table[choices.target], choices.metric)
    how: How = choices.how or ("stratified" if target.is_class else "random")
    parts = _split(table, how, choices)
    found = leaks(parts.train, parts.test, choices.target, choices.id)
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        made = partial / folder.name
        made.mkdir()
        title = choices.title or folder.name.replace("-", " ").capitalize()
        about = FolderFacts(title)
        if choices.leaderboard is not None:
            shutil.copyfile(choices.leaderboard, made / LEADERBOARD)
            about = replace(about, leaderboard=f"{choices.leaderboard.name}, as given")
        write_folder(made, parts, target, about)
        score = _baseline_score(grade, made, parts, target, choices)
        if score is not None:
            source = f"{baseline.described(target)}, seed {choices.seed}"
            about = replace(about, baseline={"score": score, "source": source})
            (made / TOML).write_text(declaration(parts, target, about), encoding="utf-8")
        (made / "README.md").write_text(_readme(title, choices, how, target, found), "utf-8")
        made.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    public, searched, private = map(parts.usage.count, ("Public", "Search", "Private"))
    return Made(folder, target, how, len(parts.train), public, searched, private, score, found)


def require_new(folder: Path) -> None:
    """Check that a competition can be made there.

    Raises:
        Conflict: the folder exists already.
        Invalid: its name is not allowed.
    """
    _require_slug(folder.name)
    if folder.exists():
        raise Conflict(f"{folder} exists already: choose another name, or remove it.")


def _split(table: pd.DataFrame, how: How, choices: NewCompetitionChoices) -> Parts:
    table, id_column = with_ids(table, choices.id, choices.seed)
    if choices.id is not None and (table[id_column].duplicated() | (table[id_column] == "")).any():
        raise Invalid(f"--id: the column {id_column!r} repeats a value or is empty in a row.")
    values = {"stratified": choices.target, "group": choices.by, "time": choices.by}.get(how)
    by = None if values is None else table[values]
    stay, chosen = choose(how, by, len(table), choices.test_share, choices.seed)
    within = None if by is None else by.iloc[chosen]
    private, public = _usage(how, within, len(chosen), choices)
    if not len(private) or not len(public):
        raise Invalid("The test set is too small to have public and private rows.")
    usage = np.full(len(chosen), "Private", dtype=object)
    usage[public] = "Public"
    if choices.search_share:
        usage[_search(how, within, private, choices)] = "Search"
    order = np.random.default_rng(choices.seed + 1).permutation(len(chosen))
    test = table.iloc[chosen[order]]
    return Parts(table.iloc[stay], test, id_column, choices.target, list(usage[order]))


def _usage(
    how: How, by: pd.Series[str] | None, rows: int, choices: NewCompetitionChoices
) -> tuple[Rows, Rows]:
    """The positions of private and public rows in the test set; by time, public ones come first."""
    if how == "time":
        public, private = choose(how, by, rows, 1 - choices.public_share, choices.seed)
        return private, public
    return choose(how, by, rows, choices.public_share, choices.seed)


def _search(
    how: How, by: pd.Series[str] | None, private: Rows, choices: NewCompetitionChoices
) -> Rows:
    """The positions of rows to search on, among the private rows; by time, they come first."""
    within = None if by is None else by.iloc[private]
    rows, share, seed = len(private), choices.search_share, choices.seed + 2
    if how == "time":
        found, rest = choose(how, within, rows, 1 - share, seed)
    else:
        rest, found = choose(how, within, rows, share, seed)
    if min(len(found), len(rest)) < LEAST:
        raise Invalid(
            f"--search-share: {len(found)} rows to search on and {len(rest)} private ones; both "
            f"need at least {LEAST}."
        )
    return private[found]


def _baseline_score(
    grade: Grade, folder: Path, parts: Parts, target: Target, choices: NewCompetitionChoices
) -> float | None:
    """The private score of scikit-learn's defaults, graded as any submission."""
    if not choices.with_baseline:
        return None
    features = [parts.id] if choices.id is None or choices.id == parts.id else []
    train, test = (one.drop(columns=features) for one in (parts.train, parts.test))
    cells = baseline.predict(
        train, test.drop(columns=parts.column), parts.column, target, choices.seed
    )
    file = folder.parent / "baseline.csv"
    write_csv(pd.DataFrame({parts.id: parts.test[parts.id], parts.column: cells}), file)
    outcome = grade(folder, file)
    if isinstance(outcome, GraderFault | Rejected):
        raise Invalid(
            f"{target.metric} cannot score scikit-learn's defaults: {_cause(outcome)}. Choose "
            "another by --metric, or --no-baseline; then podium check says if the answers are why."
        )
    return outcome.score


def _cause(outcome: GraderFault | Rejected) -> str:
    if isinstance(outcome, Rejected):
        return "; ".join(each.message for each in outcome.verdict.violations)
    return f"it failed with them or with the answers ({outcome.place or outcome.kind})"


def _readme(
    title: str, choices: NewCompetitionChoices, how: How, target: Target, found: list[str]
) -> str:
    by = f" by `{choices.by}`" if choices.by else ""
    searched = f", {choices.search_share:g} of the others to search on"
    origin = (
        f"Made by `podium new` from {choices.origin or choices.data.name}: a {how} split{by}, "
        f"seed {choices.seed}, {choices.test_share:g} of the rows in the test set, "
        f"{choices.public_share:g} of these public{searched if choices.search_share else ''}."
    )
    why = f"The metric is `{target.metric}`; of the target `{choices.target}`: {target.reason}."
    lines = [f"# {title}", "", origin, "", why]
    if found:
        lines += ["", "What tells the answers:", "", *(f"- {each}" for each in found)]
    return "\n".join(lines) + "\n"


def _require_slug(slug: str) -> None:
    if not SLUG.fullmatch(slug):
        raise Invalid(
            f"{slug!r} is not the name of a competition: letters, digits and hyphens, at most 100."
        )


def _require_column(table: pd.DataFrame, role: str, column: str | None) -> None:
    if column is not None and column not in table.columns:
        names = ", ".join(map(str, table.columns[:20]))
        raise Invalid(f"{role}: there is no column {column!r}; the columns are {names}.")


def _require_roles(table: pd.DataFrame, choices: NewCompetitionChoices) -> None:
    for role, column in (("--id", choices.id), (f"--{choices.how}", choices.by)):
        if column == choices.target:
            raise Invalid(f"{role} and --target both name {column!r}: name two columns.")
    if choices.how == "group" and choices.by is not None:
        empty = np.flatnonzero(table[choices.by] == "")
        if len(empty):
            raise Invalid(
                f"--group: {choices.by!r} is empty in {counted(len(empty), 'row')}, first in row "
                f"{empty[0] + 1}: name their groups, or remove these rows."
            )
