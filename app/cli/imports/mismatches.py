"""Differences between an imported file and Podium, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.output import err
from app.importers.grading_report import Mismatch

MAX_PRINTED = 20


def print_mismatches(found: Sequence[Mismatch]) -> None:
    """Print the first mismatches of a file, and the number of the others."""
    for one in found[:MAX_PRINTED]:
        note = f" ({one.note})" if one.note else ""
        err.print(
            f"  {one.place}: the file says {one.file}, Podium finds {one.ours}{note}",
            markup=False, highlight=False,
        )  # fmt: skip
    if len(found) > MAX_PRINTED:
        err.print(f"  and {len(found) - MAX_PRINTED} more; --json lists all")
