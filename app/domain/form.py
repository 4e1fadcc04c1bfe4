"""`[submission]` and `[answers]`: the form of the files of a competition."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from app.domain.base_model import Section
from app.domain.columns import Column

USAGE_COLUMN = "Usage"  # Kaggle's name for the column that says Public, Private or Ignored


class SubmissionForm(Section):
    """`[submission]`: the id columns, the prediction columns and their kinds.

    Ids are compared as written. With `id_kind` integer, 7, 007 and 7.0 are one id; without an
    `id_kind` too, if all ids of the sample submission are whole numbers in shortest form. With
    `id_kind` position there is no id column: rows have the order of the sample submission.
    `id_aliases` are other names of the id column, "" for a column without a name. With
    `repeated_ids` an id may have several rows, which are matched by their order in the file.
    With `optional_ids`, ids without an answer may be left out. Unknown columns are ignored with a
    warning, or refused where they could only be classes that do not exist.
    """

    id: tuple[str, ...] = ()
    id_kind: Literal["text", "integer", "position"] = "text"
    id_aliases: tuple[str, ...] = ()
    repeated_ids: bool = False
    optional_ids: bool = False
    columns: dict[str, Column] = Field(min_length=1)
    rows_sum_to_one: bool = False
    unknown_columns: Literal["ignore", "refuse"] = "ignore"

    @field_validator("id", mode="before")
    @classmethod
    def _one_id_may_stand_alone(cls, names: Any) -> Any:
        """Read `id = "x"` as `id = ["x"]`."""
        if isinstance(names, str):
            return (names,)
        return tuple(names) if isinstance(names, list) else names

    @model_validator(mode="after")
    def _columns_do_not_contradict(self) -> Self:
        if self.id_kind == "position":
            if self.id or self.id_aliases or self.repeated_ids or self.optional_ids:
                raise ValueError(
                    "where the position of a row is its id, no other key of ids is allowed"
                )
        elif not self.id or not all(self.id):
            raise ValueError("id must name at least one column")
        if self.id_aliases and len(self.id) > 1:
            raise ValueError("id_aliases need a single id column")
        if len(set(self.id)) != len(self.id):
            raise ValueError("id names a column twice")
        shared = sorted(set(self.id) & set(self.columns))
        if shared:
            raise ValueError(f"{shared[0]!r} is both an id and a prediction column")
        if USAGE_COLUMN in (*self.id, *self.columns):
            raise ValueError(f"a column may not be called {USAGE_COLUMN}: that marks answer rows")
        if "" in self.columns:
            raise ValueError("a column needs a name")
        names = [name for n, c in self.columns.items() for name in (n, *c.aliases)]
        names += [*self.id, *self.id_aliases]
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise ValueError(f"{twice[0]!r} names two columns")
        if self.rows_sum_to_one and not self.probability_columns:
            raise ValueError("rows_sum_to_one needs columns of kind probability")
        return self

    @property
    def aliases(self) -> dict[str, str]:
        """Other names of columns, each with the name of its column."""
        found = {alias: name for name, c in self.columns.items() for alias in c.aliases}
        return found | dict.fromkeys(self.id_aliases, *self.id[:1])

    @property
    def probability_columns(self) -> tuple[str, ...]:
        """The names of the columns of kind probability."""
        return tuple(name for name, c in self.columns.items() if c.kind == "probability")


class AnswersFile(Section):
    """`[answers]`: the file of answers below `private/`, where it differs from a submission.

    `columns` gives the names of columns there (`{ label = "category_id" }`), `kinds` the kinds of
    columns that differ from a submission's (boxes there, points here), and `unscored` the rows that
    no score counts, by the texts of a column (`{ u_out = ["1"] }`).
    """

    file: str = "answers.csv"
    columns: dict[str, str] = Field(default_factory=dict)
    kinds: dict[str, Column] = Field(default_factory=dict)
    unscored: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("file")
    @classmethod
    def _is_a_plain_name(cls, file: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", file):
            raise ValueError(f"{file!r} is not a plain file name below private/")
        return file
