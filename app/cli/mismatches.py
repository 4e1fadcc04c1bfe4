"""Where an imported file and Podium disagree, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.output import err
from app.importers.grading_report import Mismatch

SHOWN = 20


def tell_mismatches(found: Sequence[Mismatch]) -> None:
    """What a file says and Podium does not find, as far as people read it."""
    for one in found[:SHOWN]:
        note = f" ({one.note})" if one.note else ""
        err.print(
            f"  {one.place}: the file says {one.file}, we find {one.ours}{note}",
            markup=False, highlight=False,
        )  # fmt: skip
    if len(found) > SHOWN:
        err.print(f"  and {len(found) - SHOWN} more: --json lists all")
