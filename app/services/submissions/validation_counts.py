"""The number of files of a run that were validated; each count continues the one before.

A run has up to PODIUM_RUN_VALIDATIONS such entries in the exposure ledger, and every validation
needs their number. No entry is ever changed or removed, so counted ones need not be read again.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.services.runtime.context import Context
from app.storage.queries import exposure

# An entry gets its id when it is inserted, and becomes visible when it is committed. Servers may
# commit in another order, but a transaction takes much less time than this.
SETTLED_SECONDS = 10.0
ENTRY_BYTES = 400


class _Counted(NamedTuple):
    """`number` entries have an id up to `last`; at the time `seen_at` the last id was `seen`."""

    number: int
    last: int
    seen: int
    seen_at: float


def count_on(context: Context, session: Session, run_id: str, kind: str) -> None:
    """Keep a newer count of a run's validations of this kind, if the last one is old."""
    key, now = ("validations", run_id, kind), time.monotonic()
    losses = context.database.losses  # a standby may give an entry's id again
    known: _Counted | None = context.kept.get(key, losses)
    if known is not None and now - known.seen_at < SETTLED_SECONDS:
        return
    count, last = (0, 0) if known is None else (known.number, known.seen)
    if known is not None:
        count += exposure.count_validations(
            session, run_id, kind, after=known.last, until=known.seen
        )
    counted = _Counted(count, last, exposure.last_id(session, run_id), now)
    context.kept.put(key, losses, counted, ENTRY_BYTES)


def has_validations(context: Context, session: Session, run_id: str, kind: str, most: int) -> bool:
    """Whether a run has this many validations of this kind, including those of this transaction."""
    losses = context.database.losses
    known: _Counted | None = context.kept.get(("validations", run_id, kind), losses)
    number, last = (0, 0) if known is None else (known.number, known.last)
    return number + exposure.count_validations(session, run_id, kind, after=last) >= most
