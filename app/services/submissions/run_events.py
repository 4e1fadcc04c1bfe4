"""Follow a run: derive the events that are new to a caller from the run's rows alone.

A caller's position is the longest prefix of the run's submissions, in the order of their ids, that
are final and were sent to the caller. Rows are never removed and a settled submission does not
change. So nothing before the position is new as long as the number of submissions there stays the
same. That count reveals a submission whose id was made earlier but whose row was committed later.
No clock is involved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from sqlalchemy.orm import Session

from app.domain.states import SETTLED, RunState
from app.errors import BadRequest
from app.services.auth import Caller, authenticate, own_run
from app.services.runtime.context import Context
from app.services.runtime.shown_outcomes import outcome_shown_at
from app.services.submissions.disclose import RECEIVED, Disclosed, show_all, state_shown
from app.services.submissions.find_submissions import read_outcomes
from app.storage.database.records import GradeRecord, RunRecord, SubmissionRecord
from app.storage.queries import submissions

PAGE_SIZE = 100  # submissions read by one query
RECHECKED = 32  # the latest final submissions, checked again for late commits among them
FINAL_STATES = frozenset({*SETTLED, RECEIVED})
CURSOR_PATTERN = re.compile(r"(\d{1,9})\.([a-z0-9_]{0,64})\.(open|closed)")


@dataclass(frozen=True, slots=True)
class EventCursor:
    """A caller's position in a run: `count` submissions up to the id `last`; whether it closed."""

    count: int = 0
    last: str = ""
    closed: bool = False

    def __str__(self) -> str:
        return f"{self.count}.{self.last}.{'closed' if self.closed else 'open'}"

    @classmethod
    def parse(cls, text: str) -> EventCursor:
        """Parse the text of a cursor.

        >>> EventCursor.parse("1.sub_1.open")
        EventCursor(count=1, last='sub_1', closed=False)

        Raises:
            BadRequest: the text is not a cursor.
        """
        found = CURSOR_PATTERN.fullmatch(text)
        if found is None:
            raise BadRequest(
                "Last-Event-ID is not an id of this stream's events. Send the last id that you "
                "received, or none to begin with the run's present state."
            )
        return cls(int(found[1]), found[2], found[3] == "closed")


@dataclass(frozen=True, slots=True)
class Event:
    """One change: a submission has a new state, or the run was closed (`submission` is None)."""

    position: EventCursor
    run: RunRecord
    submission: Disclosed | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """The events of one query.

    If not `complete`, more events are ready now. If `finished`, no more events will follow.
    `next_at` is the time at which an outcome that exists already may be shown.
    """

    events: list[Event]
    complete: bool
    finished: bool
    next_at: datetime | None = None


class RunEvents:
    """Reads a run's events for one caller and remembers which states the caller has seen."""

    def __init__(self, context: Context, key: str | None, run_id: str, since: EventCursor) -> None:
        self._context = context
        self._key = key
        self._run_id = run_id
        self._disclosed: dict[str, str] = {}  # states by id, of the submissions after `_base`
        self._start_at(since)

    def next_page(self) -> EventPage:
        """The new events among the next page of submissions.

        What these events disclose to a run's key is recorded in the ledger.

        Raises:
            Unauthorized, NotFound: the key is not valid (any more), or not for this run.
            Unavailable: the database is away. The next call returns the same events.
        """
        now = datetime.now(UTC)
        with self._context.database.read() as session:
            caller = authenticate(session, self._key)
            run = own_run(session, caller, self._run_id)
            if self._next == self._base and not self._is_intact(session):
                self._disclosed = {}
                self._start_at(EventCursor(closed=self._base.closed))
            query = partial(
                submissions.list_submissions,
                session,
                self._run_id,
                after=self._next.last or None,
                limit=PAGE_SIZE,
            )
            page = read_outcomes(self._context, session, caller, run, now, query)
        events = self._compare(caller, run, page, now)
        if len(page) == PAGE_SIZE:
            return EventPage(events, complete=False, finished=False)
        return self._finish(run, events)

    def _start_at(self, base: EventCursor) -> None:
        """Let the next query begin after `base`."""
        self._base = self._next = self._position = base
        self._next_at: datetime | None = None
        self._is_prefix = True  # whether all between `_base` and `_next` is final

    def _is_intact(self, session: Session) -> bool:
        last = self._base.last
        return (self._base.count, last) == submissions.count_up_to(session, self._run_id, last)

    def _compare(
        self,
        caller: Caller,
        run: RunRecord,
        page: list[tuple[SubmissionRecord, GradeRecord | None]],
        now: datetime,
    ) -> list[Event]:
        at, position, is_prefix = self._next, self._position, self._is_prefix
        states, positions, new = {}, [], []
        for submission, grade in page:
            state = state_shown(self._context, caller, run, submission, now)
            if state not in FINAL_STATES:
                self._note_time(submission)
            at = EventCursor(at.count + 1, submission.id, at.closed)
            is_prefix = is_prefix and state in FINAL_STATES
            position = at if is_prefix else position
            if self._disclosed.get(submission.id) != state:
                states[submission.id] = state
                positions.append(position)
                new.append((submission, grade))
        shown = show_all(self._context, caller, run, new, now=now)
        self._disclosed |= states
        self._next, self._position, self._is_prefix = at, position, is_prefix
        return [Event(where, run, one) for where, one in zip(positions, shown, strict=True)]

    def _note_time(self, submission: SubmissionRecord) -> None:
        """Note the time from which a hidden outcome may be shown, if it is the earliest."""
        at = outcome_shown_at(submission, self._context.settings.outcome_step_seconds)
        if at is not None and (self._next_at is None or at < self._next_at):
            self._next_at = at

    def _finish(self, run: RunRecord, events: list[Event]) -> EventPage:
        """End a pass over the run. The next begins after the final prefix, less RECHECKED."""
        is_final, is_closed = self._is_prefix, run.state is RunState.CLOSED
        base, position = self._base, self._position
        if is_closed and not base.closed:
            base, position = replace(base, closed=True), replace(position, closed=True)
            events = [*events, Event(position, run, None)]
        final = position.count - base.count
        if final > 2 * RECHECKED:
            for one in sorted(self._disclosed)[: final - RECHECKED]:
                del self._disclosed[one]
                base = EventCursor(base.count + 1, one, base.closed)
        next_at = self._next_at
        self._start_at(base)
        return EventPage(events, complete=True, finished=is_final and is_closed, next_at=next_at)
