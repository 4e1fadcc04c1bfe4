"""Find regrades, and show their progress."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.errors import NotFound
from app.services.runtime.context import Context
from app.services.runtime.pages import page_of, wrong_cursor
from app.storage.queries import competitions
from app.storage.queries.regrades import members, outcomes, regrades
from app.storage.queries.regrades.regrades import RegradeRecord


@dataclass(frozen=True, slots=True)
class ShownRegrade:
    """A regrade, the number of its version, and counts of submissions by state.

    `version` is None if each submission is graded under its run's version. `missing` submissions
    were settled after the regrade was ready, so it does not have them.
    """

    record: RegradeRecord
    version: int | None
    waiting: int
    graded: int
    rejected: int
    failed: int
    missing: int

    @property
    def total(self) -> int:
        """The number of its submissions."""
        return self.waiting + self.done

    @property
    def done(self) -> int:
        """The number of those that have an outcome."""
        return self.graded + self.rejected + self.failed


def find(context: Context, regrade_id: str) -> ShownRegrade:
    """A regrade by its id.

    Raises:
        NotFound: it does not exist.
    """
    with context.database.read() as session:
        found = existing(session, regrade_id)
    return _shown(context, [found])[0]


def existing(session: Session, regrade_id: str, *, locks: bool = False) -> RegradeRecord:
    """A regrade by its id, in a transaction that may lock it.

    Raises:
        NotFound: it does not exist.
    """
    found = regrades.get(session, regrade_id, locks=locks)
    if found is None:
        raise NotFound(f"There is no regrade {regrade_id!r}.")
    return found


def page(
    context: Context, slug: str, after: str | None, limit: int
) -> tuple[list[ShownRegrade], str | None]:
    """A page of a competition's regrades, oldest first, and the next cursor.

    Raises:
        NotFound: the competition does not exist.
        Invalid: the cursor is not of this list.
    """
    if after is not None and not after.startswith(f"{regrades.PREFIX}_"):
        raise wrong_cursor()
    with context.database.read() as session:
        known = competitions.current_version(session, slug)
        found = regrades.of_competition(session, slug, after=after, limit=limit + 1)
    if known is None:
        raise NotFound(f"There is no competition {slug!r}.")
    shown, cursor = page_of(found, limit, lambda one: one.id)
    return _shown(context, shown), cursor


def _shown(context: Context, found: list[RegradeRecord]) -> list[ShownRegrade]:
    with context.database.read() as session:
        # First: what is added to a regrade between the queries would make its number negative.
        counts = outcomes.progress(session, [one.id for one in found])
        whole = [one for one in found if one.submission_id is None]
        settled = {
            slug: members.count_settled(session, slug)
            for slug in {one.competition for one in whole}
        }
    missing = {one.id: settled[one.competition] - sum(counts[one.id].values()) for one in whole}
    return [
        ShownRegrade(
            one,
            None if one.version_id is None else context.catalogue.version(one.version_id).number,
            waiting=counts[one.id].get(SubmissionState.QUEUED, 0),
            graded=counts[one.id].get(SubmissionState.GRADED, 0),
            rejected=counts[one.id].get(SubmissionState.REJECTED, 0),
            failed=counts[one.id].get(SubmissionState.FAILED, 0),
            missing=missing.get(one.id, 0),
        )
        for one in found
    ]
