"""The exposure ledger of a run, and its totals: disclosures to the agent and to harnesses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.errors import BadRequest
from app.services.auth import Caller, require_researcher
from app.services.experiments.runs import find
from app.services.runtime.context import Context
from app.storage.database.records import (
    DISCLOSURE_KINDS,
    HARNESS,
    HARNESS_KINDS,
    DisclosureRecord,
    RunRecord,
)
from app.storage.queries import exposure

LEDGER_CURSOR = re.compile(r"[0-9]{1,18}")
LEDGER_PAGE = 5000  # entries that are read together


@dataclass(frozen=True, slots=True)
class Ledger:
    """A page of a run's exposure ledger; the totals of all pages; the cursor of the next page.

    `last` is the id of the last entry that `totals` count, 0 if there is none. `harness_totals` has
    the disclosures to harnesses, with the same names as `totals`. It is None for the run's own key,
    which must not learn of them: they reveal that a file was graded.
    """

    run: RunRecord
    disclosed: list[DisclosureRecord]
    totals: dict[str, int]
    harness_totals: dict[str, int] | None
    next_cursor: str | None
    last: int


def ledger(
    context: Context, caller: Caller, run_id: str, *, after: str | None, limit: int | None
) -> Ledger:
    """The disclosures to the run's key, and for researchers also those to harnesses.

    At most `limit` after the cursor `after`, or `LEDGER_PAGE`: `entries_after` reads the rest.

    Raises:
        BadRequest: `after` is not a cursor of this list.
        NotFound: as `find`.
    """
    run = find(context, caller, run_id)
    if after is not None and not LEDGER_CURSOR.fullmatch(after):
        raise BadRequest("The cursor is not one that this list gave: begin again without one.")
    offset = int(after or 0)
    limit = LEDGER_PAGE if limit is None else limit
    with context.database.read() as session:
        # A count and not an id: all runs share one sequence of ids, which would reveal other runs.
        found = exposure.list_disclosures(
            session, run_id, kinds=_shown_kinds(caller), offset=offset, limit=limit + 1
        )
        counted = exposure.totals(session, run_id)
        last = exposure.last_id(session, run_id)
    totals = {kind: counted[kind] for kind in DISCLOSURE_KINDS}
    to_harness = None
    if not caller.is_run:
        to_harness = {kind: counted[f"{HARNESS}{kind}"] for kind in DISCLOSURE_KINDS}
    if len(found) <= limit:
        return Ledger(run, found, totals, to_harness, None, last)
    return Ledger(run, found[:limit], totals, to_harness, str(offset + limit), last)


def entries_after(
    context: Context, caller: Caller, found: Ledger, after: int
) -> list[DisclosureRecord]:
    """At most `LEDGER_PAGE` of the entries that the totals count, after the one with this id."""
    with context.database.read() as session:
        return exposure.list_disclosures(
            session, found.run.id, kinds=_shown_kinds(caller), after=after, until=found.last,
            limit=LEDGER_PAGE,
        )  # fmt: skip


def _shown_kinds(caller: Caller) -> tuple[str, ...]:
    return DISCLOSURE_KINDS if caller.is_run else DISCLOSURE_KINDS + HARNESS_KINDS


@dataclass(frozen=True, slots=True)
class Disclosures:
    """Disclosures to one reader: `totals` by kind for the run, and the kinds by submission."""

    totals: Mapping[str, int]
    by_submission: Mapping[str, Sequence[str]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was disclosed."""
        return not any(self.totals.values())


def disclosures_of(
    context: Context, caller: Caller, run_id: str, submission_ids: Sequence[str]
) -> tuple[Disclosures, Disclosures]:
    """Disclosures to the agent, and those to harnesses; for researchers.

    The kinds have the same names for both. Validations belong to no submission.

    Raises:
        Forbidden: the caller is not a researcher.
    """
    require_researcher(caller)
    with context.database.read() as session:
        counted = exposure.totals(session, run_id)
        numbers = exposure.numbers_disclosed(session, run_id, submission_ids)
    return _disclosures(counted, numbers, ""), _disclosures(counted, numbers, HARNESS)


def _disclosures(
    counted: Mapping[str, int], numbers: Sequence[tuple[str, str]], prefix: str
) -> Disclosures:
    names = {prefix + kind: kind for kind in DISCLOSURE_KINDS}
    found: dict[str, list[str]] = {}
    for submission_id, kind in numbers:
        if kind in names:
            found.setdefault(submission_id, []).append(names[kind])
    return Disclosures({name: counted[kind] for kind, name in names.items()}, found)
