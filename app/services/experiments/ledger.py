"""Read a run's exposure ledger, whole or in pages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.errors import BadRequest
from app.services.auth import Caller
from app.services.experiments.runs import find
from app.services.runtime.context import Context
from app.storage.database.records import DisclosureRecord, RunRecord
from app.storage.queries import exposure

LEDGER_CURSOR = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Ledger:
    """A page of a run's exposure ledger; the totals of all pages; the cursor of the next page."""

    run: RunRecord
    disclosed: list[DisclosureRecord]
    totals: dict[str, int]
    next_cursor: str | None


def ledger(
    context: Context, caller: Caller, run_id: str, *, after: str | None, limit: int | None
) -> Ledger:
    """The disclosures to the run's key: at most `limit` after the cursor `after`, or all.

    Raises:
        BadRequest: `after` is not a cursor of this list.
        NotFound: as `find`.
    """
    run = find(context, caller, run_id)
    if after is not None and not LEDGER_CURSOR.fullmatch(after):
        raise BadRequest("The cursor is not one that this list gave: begin again without one.")
    offset = int(after or 0)
    with context.database.read() as session:
        # A count and not an id: ids of all runs are one sequence, and would tell of other runs.
        found = exposure.list_disclosures(
            session, run_id, offset=offset, limit=None if limit is None else limit + 1
        )
        totals = exposure.totals(session, run_id)
    if limit is None or len(found) <= limit:
        return Ledger(run, found, totals, None)
    return Ledger(run, found[:limit], totals, str(offset + limit))
