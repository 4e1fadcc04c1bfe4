"""What was told of a run, to its agent and to harnesses: in all, and of some submissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.auth import Caller, require_researcher
from app.services.runtime.context import Context
from app.storage.database.records import DISCLOSURE_KINDS, HARNESS
from app.storage.queries import exposure


@dataclass(frozen=True, slots=True)
class Told:
    """What one reader was told: `totals` by kind for the run, and the kinds by submission."""

    totals: Mapping[str, int]
    by_submission: Mapping[str, Sequence[str]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was told."""
        return not any(self.totals.values())


def told_of(
    context: Context, caller: Caller, run_id: str, submission_ids: Sequence[str]
) -> tuple[Told, Told]:
    """What the agent was told, and what harnesses were told; for researchers.

    The kinds have the same names for both. Validations belong to no submission.

    Raises:
        Forbidden: the caller is no researcher.
    """
    require_researcher(caller)
    with context.database.read() as session:
        counted = exposure.totals(session, run_id)
        numbers = exposure.numbers_told(session, run_id, submission_ids)
    return _told(counted, numbers, ""), _told(counted, numbers, HARNESS)


def _told(counted: Mapping[str, int], numbers: Sequence[tuple[str, str]], prefix: str) -> Told:
    names = {prefix + kind: kind for kind in DISCLOSURE_KINDS}
    found: dict[str, list[str]] = {}
    for submission_id, kind in numbers:
        if kind in names:
            found.setdefault(submission_id, []).append(names[kind])
    return Told({name: counted[kind] for kind, name in names.items()}, found)
