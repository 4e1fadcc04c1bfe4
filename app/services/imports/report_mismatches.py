"""Compare what a grading report says of a competition with the competition here."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.importers.grading_report import THRESHOLDS, Mismatch, ReportEntry
from app.services.runtime.context import Context
from app.storage.queries import competitions


def mismatches_with_boards(context: Context, entries: Sequence[ReportEntry]) -> list[Mismatch]:
    """The differences between the report's thresholds and directions and Podium's."""
    slugs = {entry.competition for entry in entries}
    with context.database.read() as session:
        versions = competitions.list_current(session, slugs=slugs, limit=len(slugs))
    boards = {each.slug: context.catalogue.entry(each).leaderboard for each in versions}
    note = "the competition here has another one; the report's decided"
    found = []
    for entry in entries:
        board = boards.get(entry.competition)
        if board is None:
            continue
        if entry.higher_is_better not in (None, board.higher_is_better):
            lower = not board.higher_is_better
            found.append(
                Mismatch(
                    f"{entry.place}.is_lower_better", entry.competition, "is_lower_better",
                    not entry.higher_is_better, lower, note,
                )
            )  # fmt: skip
        for name in THRESHOLDS if entry.lines else ():
            theirs, expected = getattr(entry.lines, name), getattr(board.lines, name)
            if expected is not None and not math.isclose(
                theirs, expected, rel_tol=1e-9, abs_tol=1e-12
            ):
                field = f"{name}_threshold"
                found.append(
                    Mismatch(
                        f"{entry.place}.{field}", entry.competition, field, theirs, expected, note
                    )
                )
    return found
