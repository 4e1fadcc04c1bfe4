"""The kinds of prediction columns, and the values that each allows."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, model_validator


def _is_size(size: int | str) -> int | str:
    if size in (0, "") or (isinstance(size, int) and size < 0):
        raise ValueError("a number of pixels must be greater than 0, a column's name not empty")
    return size


FIRST_INEXACT = 2**53  # from here on different whole numbers are the same double
# Of a mask: more than any image has, and few enough that the pixels of all masks of a file can be
# numbered in int64.
MOST_PIXELS = 1 << 36
SHOWN = 100  # characters of a pattern that a message repeats
PixelSize = Annotated[int | str, AfterValidator(_is_size)]  # or the column of the answers with it


def _is_pattern(pattern: str) -> str:
    """A regular expression in the syntax that Python and pyarrow (RE2) share."""
    # Few competitions have a pattern, and pyarrow takes longer to load than all of app.domain.
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        re.compile(pattern)
        pc.match_substring_regex(pa.array([""]), pattern)
    except (re.error, pa.ArrowInvalid, OverflowError, RecursionError) as error:
        shown = repr(pattern if len(pattern) <= SHOWN else f"{pattern[:SHOWN]}...")
        raise ValueError(f"{shown} is not a regular expression: {error}") from None
    return pattern


Pattern = Annotated[str, AfterValidator(_is_pattern)]


class _Column(BaseModel):
    """`aliases` are other names that the column may have in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    aliases: tuple[str, ...] = ()


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
    """A whole number; `3.0` is valid, `3.5` is not."""

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
    """Any text; `allow_empty` says whether an empty cell is one.

    Texts named by `same_as_empty` count as empty ones. All that are not empty must match `pattern`
    and have at most `max_length` characters, if given.
    """

    kind: Literal["text"]
    allow_empty: bool = False
    max_length: int | None = Field(default=None, ge=1)
    same_as_empty: tuple[str, ...] = ()
    pattern: Pattern | None = None


class ListColumn(_Column):
    """Items joined by `separator`, at most `max_items`; `distinct` forbids repeats.

    A `permutation` orders the items of its row's answers: all of them, each once. Where `items` are
    integer, 7 and 007 are one item, and `min` and `max` bound them. Items match `pattern`, if
    one is given. An empty list is written as `empty`, an empty cell or a blank.
    """

    kind: Literal["list"]
    separator: str = Field(default=" ", min_length=1)
    min_items: int = Field(default=0, ge=0)
    max_items: int | None = Field(default=None, ge=1)
    distinct: bool = False
    permutation: bool = False
    labels: tuple[str, ...] | None = None
    items: Literal["text", "integer"] = "text"
    empty: Literal["", " "] = ""
    pattern: Pattern | None = None
    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        if self.max_items is not None and self.min_items > self.max_items:
            raise ValueError("min_items is larger than max_items")
        if self.items == "integer" and self.labels is not None:
            raise ValueError("items are either integers or labels")
        if self.items == "text" and (self.min is not None or self.max is not None):
            raise ValueError("min and max need items = 'integer'")
        _require_range(self.min, self.max)
        return self


class MaskColumn(_Column):
    """A run-length mask of `height` x `width` pixels: pairs of start and length, ascending.

    `start` is the number of the first pixel (1 on Kaggle), `order` the direction of counting
    (Kaggle counts down the columns), `empty` the text that means an empty mask. Where images
    differ in size, `height` and `width` name the columns of the answers that hold it.
    """

    kind: Literal["mask"]
    height: PixelSize
    width: PixelSize
    order: Literal["column", "row"] = "column"
    start: Literal[0, 1] = 1
    empty: str = ""
    allow_empty: bool = True

    @property
    def pixels(self) -> int | None:
        """The pixels of every image; None where images differ in size."""
        if isinstance(self.height, int) and isinstance(self.width, int):
            return self.height * self.width
        return None

    @model_validator(mode="after")
    def _size_is_stated_once(self) -> Self:
        if isinstance(self.height, int) is not isinstance(self.width, int):
            raise ValueError("height and width must be two numbers or two columns of the answers")
        return self


class BoxesColumn(_Column):
    """Groups of numbers, one group a box, each with the named `fields`, joined by spaces.

    The field named by `label` is not a number but one of `labels`, and becomes its index in
    `labels`. With labels "unicode" it is a character written U+30CF, and becomes its code point.
    `probabilities` are fields from 0 to 1, `positive` ones above 0, and `ascending` holds pairs of
    fields of which the first is not above the second.
    """

    kind: Literal["boxes"]
    fields: tuple[str, ...] = Field(min_length=1)
    max_boxes: int | None = Field(default=None, ge=1)
    allow_empty: bool = True
    label: str | None = None
    labels: tuple[str, ...] | Literal["unicode"] | None = None
    probabilities: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    ascending: tuple[tuple[str, str], ...] = ()

    @model_validator(mode="after")
    def _fields_are_known(self) -> Self:
        named = [*self.probabilities, *self.positive, *(f for pair in self.ascending for f in pair)]
        if self.label is not None:
            named.append(self.label)
        if unknown := [name for name in named if name not in self.fields]:
            raise ValueError(f"{unknown[0]!r} is not among the fields")
        if (self.label is None) is not (self.labels is None):
            raise ValueError("label and labels are declared together")
        return self


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
