"""Options of commands that print results: what counts, and the format and target of the output."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.domain.result_choices import RATES, Baselines, Excluded, Padding
from app.errors import Invalid
from app.statistics.percentiles import PERCENTILES, SCALES

if TYPE_CHECKING:
    from app.services.results.inputs.scope import ResultFilter

LONGEST_NUMBER = 6  # digits


class Form(StrEnum):
    """How a result is written."""

    LATEX = "latex"
    MARKDOWN = "markdown"
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


FormOption = Annotated[
    Form | None,
    typer.Option(
        "--format",
        help="the form of the result; default: tables in a terminal, else markdown; the origin is "
        "in each form except csv",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="write it to this file; the origin of a CSV file is in FILE-metadata.json"
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="the same as --format csv: unrounded rows")]
Parquet = Annotated[
    Path | None, typer.Option(help="write the rows also to this file, as Parquet")
]  # fmt: skip
Experiment = Annotated[str, typer.Argument(help="the experiment's name")]
Suite = Annotated[str, typer.Option(help="the suite; default: all competitions of its runs")]
Paddings = Annotated[Padding, typer.Option(help="how missing results count")]
Flags = Annotated[str, typer.Option(help="codes of flags to exclude, separated by commas")]
HowExcluded = Annotated[
    Excluded, typer.Option(help="leave flagged competitions out, or count failures")
]
Rate = StrEnum("Rate", {name: name for name in RATES})  # type: ignore[misc]
Convention = StrEnum("Convention", {name: name for name in PERCENTILES})  # type: ignore[misc]
ScaleName = StrEnum("ScaleName", {name: name for name in SCALES})  # type: ignore[misc]
ConventionOption = Annotated[Convention, typer.Option(help="the convention of the percentiles")]
RateOption = Annotated[Rate, typer.Option(help="the outcome that counts as a success")]
Threshold = Annotated[
    float | None,
    typer.Option(
        min=1e-9, max=1000, help="success: improve by more than this share of the baseline"
    ),
]
KnownBaselines = Annotated[
    Baselines, typer.Option(help="success: runs without a known baseline are refused or left out")
]
Starter = Annotated[
    str | None,
    typer.Option(help="success: an experiment whose mean scores are baselines where none is known"),
]


def scope_of(suite: str, padding: Padding, exclude_flags: str, excluded: Excluded) -> ResultFilter:
    """The attempts that count, from the options of a command."""
    from app.services.results.inputs.scope import ResultFilter

    flags = tuple(sorted({flag.strip() for flag in exclude_flags.split(",") if flag.strip()}))
    return ResultFilter(suite or None, padding, flags, excluded)


def whole_numbers(option: str, text: str) -> list[int]:
    """The numbers of an option like `--seeds 1,2,3`.

    Raises:
        Invalid: a part is not a number in at most six digits.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and len(part) <= LONGEST_NUMBER for part in parts):
        raise Invalid(
            f"{option} takes whole numbers of at most {LONGEST_NUMBER} digits, separated by "
            f"commas, as 3,5,8, not {text[:100]!r}."
        )
    return [int(part) for part in parts]


def moment_of(text: str) -> datetime:
    """A time with its zone, from an option.

    >>> moment_of("2026-05-01T12:00:00Z").isoformat()
    '2026-05-01T12:00:00+00:00'

    Raises:
        Invalid: it is not a time, it has no zone, or no time in UTC is the same.
    """
    from app.storage.queries.regrades.in_force import in_range

    try:
        return in_range(datetime.fromisoformat(text))
    except ValueError:
        raise Invalid(
            f"{text!r} is not a time with a zone, such as 2026-05-01T12:00:00Z."
        ) from None
