"""The kinds of prediction columns, and what each allows: the schema all validation rests on."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator


class _Column(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NumberColumn(_Column):
    """A finite number, between `min` and `max` where they are given (both included)."""

    kind: Literal["number"]
    min: FiniteFloat | None = None
    max: FiniteFloat | None = None

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        _require_range(self.min, self.max)
        return self


class ProbabilityColumn(_Column):
    """A number from 0 to 1."""

    kind: Literal["probability"]

    @property
    def min(self) -> float:
        """The smallest probability."""
        return 0.0

    @property
    def max(self) -> float:
        """The largest probability."""
        return 1.0


class IntegerColumn(_Column):
    """A whole number; `3.0` is one, `3.5` is not."""

    kind: Literal["integer"]
    min: int | None = None
    max: int | None = None

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        _require_range(self.min, self.max)
        return self


class BooleanColumn(_Column):
    """True or False in any case, or 1 and 0 (also 1.0 and 0.0); one spelling throughout a file."""

    kind: Literal["boolean"]


class LabelColumn(_Column):
    """One of the `labels`; where none are declared, any text that is not empty."""

    kind: Literal["label"]
    labels: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _labels_are_distinct(self) -> Self:
        if self.labels is not None:
            if not self.labels:
                raise ValueError("labels must name at least one label")
            if len(set(self.labels)) != len(self.labels):
                raise ValueError("labels must not repeat a label")
        return self


class TextColumn(_Column):
    """Any text; `allow_empty` says whether an empty cell is one."""

    kind: Literal["text"]
    allow_empty: bool = False
    max_length: int | None = Field(default=None, ge=1)


class ListColumn(_Column):
    """Items joined by `separator`, at most `max_items`; `distinct` forbids repeats."""

    kind: Literal["list"]
    separator: str = Field(default=" ", min_length=1)
    min_items: int = Field(default=0, ge=0)
    max_items: int | None = Field(default=None, ge=1)
    distinct: bool = False
    labels: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        if self.max_items is not None and self.min_items > self.max_items:
            raise ValueError("min_items is larger than max_items")
        return self


class MaskColumn(_Column):
    """A run-length mask of `height` x `width` pixels: pairs of start and length, ascending.

    `start` is the number of the first pixel (1 on Kaggle), `order` the direction of counting
    (Kaggle counts down the columns), `empty` the text that means an empty mask.
    """

    kind: Literal["mask"]
    height: int = Field(ge=1)
    width: int = Field(ge=1)
    order: Literal["column", "row"] = "column"
    start: Literal[0, 1] = 1
    empty: str = ""


class BoxesColumn(_Column):
    """Groups of numbers, one group a box, each with the named `fields`, joined by spaces."""

    kind: Literal["boxes"]
    fields: tuple[str, ...] = Field(min_length=1)
    max_boxes: int | None = Field(default=None, ge=1)
    allow_empty: bool = True


Column = Annotated[
    NumberColumn
    | ProbabilityColumn
    | IntegerColumn
    | BooleanColumn
    | LabelColumn
    | TextColumn
    | ListColumn
    | MaskColumn
    | BoxesColumn,
    Field(discriminator="kind"),
]


def _require_range(low: float | None, high: float | None) -> None:
    if low is not None and high is not None and low > high:
        raise ValueError(f"min {low} is larger than max {high}")
