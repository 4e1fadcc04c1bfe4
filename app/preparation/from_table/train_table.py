"""Find the train table among Kaggle's files, and the target by the sample submission."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import pandas as pd

from app.domain.wording import first_few
from app.errors import Invalid

TABLE = re.compile(r"\.(csv|csv\.gz|parquet|pq)$")
PACKED = ".zip"  # Kaggle packs single files so
SHOWN = 20  # names in a message


@dataclass(frozen=True, slots=True)
class Predicted:
    """The column to predict and the column of ids; without one Podium makes ids.

    `made_because` says why the first column of the sample submission cannot be the ids.
    """

    target: str
    id: str | None
    made_because: str = ""


def train_table(slug: str, names: Sequence[str], wanted: str = "") -> str:
    """The file with the train table: `wanted`, or the one called train or with train in its name.

    Raises:
        Invalid: there is no such file, or there are several; the text names what there is.
    """
    tables = [name for name in names if is_table(name)]
    if wanted:
        return _named(slug, names, tables, wanted)
    found = [name for name in tables if "train" in _stem(name)]
    called_train = [name for name in found if _stem(name) == "train"]
    if len(called_train or found) == 1:
        return (called_train or found)[0]
    if found:
        raise Invalid(
            f"{slug} has several train tables: {_listed(found)}. Name one by --table; Podium joins "
            "no tables: do that yourself and use --data, if the columns stand in several."
        )
    raise Invalid(
        f"{slug} has no train table: none of its {len(names)} files is a CSV or Parquet file with "
        f"train in its name. {_tables(tables)}"
    )


def sample_submissions(names: Sequence[str]) -> list[str]:
    """The files that look like sample submissions."""
    found = [name for name in names if is_table(name) and "submission" in _stem(name)]
    return [name for name in found if "sample" in _stem(name)] or found


def predicted(
    table: pd.DataFrame, file: str, sample: Sequence[str], target: str, own_id: str
) -> Predicted:
    """The target and the ids: as named, or else by the columns of the sample submission.

    `file` is the name of the train table, for messages; `sample` is empty if there is none.

    Raises:
        Invalid: nothing is named, and the sample submission does not tell.
    """
    columns = [str(name) for name in table.columns]
    target = target or _target(columns, file, sample)
    if own_id:
        return Predicted(target, own_id)
    if not sample or sample[0] == target:
        return Predicted(target, None, "the sample submission names none" if sample else "")
    name = sample[0]
    if name not in columns:
        return Predicted(target, None, f"{file} has no column {name!r}")
    if (table[name] == "").any() or table[name].duplicated().any():
        return Predicted(target, None, f"{name!r} repeats a value in {file}, or is empty in a row")
    return Predicted(target, name)


def is_table(name: str) -> bool:
    """Whether a file is a table, or an archive with a table."""
    return bool(TABLE.search(name.lower().removesuffix(PACKED))) and "__MACOSX" not in name


def _target(columns: list[str], file: str, sample: Sequence[str]) -> str:
    there = f"The columns of {file} are {_listed(columns)}."
    if not sample:
        raise Invalid(f"There is no single sample submission: name the target by --target. {there}")
    found = [name for name in sample[1:] if name in columns]
    if len(found) == 1:
        return found[0]
    if found:
        raise Invalid(
            f"The sample submission asks for several columns: {_listed(found)}. Name the one to "
            "predict by --target; the others stay in the table, for agents to read."
        )
    raise Invalid(
        f"The sample submission asks for {_listed(sample[1:])}, which {file} does not have: name "
        f"the target by --target, or another table by --table. {there}"
    )


def _named(slug: str, names: Sequence[str], tables: list[str], wanted: str) -> str:
    for match in (
        [name for name in names if name in (wanted, wanted + PACKED)],
        [name for name in names if PurePosixPath(name).name in (wanted, wanted + PACKED)],
    ):
        if len(match) == 1:
            return match[0]
        if match:
            raise Invalid(f"--table: {slug} has {wanted!r} several times: {_listed(match)}.")
    raise Invalid(f"--table: {slug} has no file {wanted!r}. {_tables(tables)}")


def _tables(tables: list[str]) -> str:
    if not tables:
        return "It has no tables at all."
    return f"Its tables are {_listed(tables)}: name one by --table."


def _stem(name: str) -> str:
    return PurePosixPath(name).name.lower().partition(".")[0]


def _listed(names: Sequence[str]) -> str:
    return first_few(names, SHOWN)
