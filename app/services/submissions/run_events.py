"""Follow a run: what of it is new to a caller, derived from its rows alone.

A caller's position is the longest prefix of the run's submissions, in the order of their ids, that
are final and were told. Rows are never removed and a settled submission stays as it is, so nothing
before the position is new as long as it counts as many submissions as it did: a submission whose
id was made earlier but whose row was committed later is noticed by that count. No clock is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from app.domain.states import SETTLED, RunState
from app.errors import BadRequest
from app.services.auth import Caller, authenticate, require_own_run
from app.services.runtime.context import Context
from app.services.runtime.run_limits import no_run
from app.services.submissions.disclose import RECEIVED, Disclosed, show_all, state_shown
from app.storage.database.records import GradeRecord, RunRecord, SubmissionRecord
from app.storage.queries import runs, submissions

PAGE = 200  # submissions looked at in one go
KEPT = 32  # final ones that are still compared: late commits of earlier ids are among the latest
FINAL = frozenset({*SETTLED, RECEIVED})
WORD = re.compile(r"(\d{1,9})\.([a-z0-9_]{0,64})\.(open|closed)")


@dataclass(frozen=True, slots=True)
class EventCursor:
    """How far a caller was told of a run: `count` submissions up to `last`, and its closing."""

    count: int = 0
    last: str = ""
    closed: bool = False

    def __str__(self) -> str:
        return f"{self.count}.{self.last}.{'closed' if self.closed else 'open'}"

    @classmethod
    def parse(cls, text: str) -> EventCursor:
        """The position that its text stands for.

        >>> EventCursor.parse("1.sub_1.open")
        EventCursor(count=1, last='sub_1', closed=False)

        Raises:
            BadRequest: it is not one.
        """
        found = WORD.fullmatch(text)
        if found is None:
            raise BadRequest(
                "Last-Event-ID is not an id of this stream's events. Send the last one that came, "
                "or none to begin with the run as it is."
            )
        return cls(int(found[1]), found[2], found[3] == "closed")


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that is new: a submission in another state, or the run that was closed."""

    position: EventCursor
    run: RunRecord
    submission: Disclosed | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """The events of one query; unless `complete`, ask again at once. After `finished` none come."""

    events: list[Event]
    complete: bool
    finished: bool


class RunEvents:
    """Looks at a run for one caller and remembers what it told."""

    def __init__(self, context: Context, key: str | None, run_id: str, since: EventCursor) -> None:
        self._context = context
        self._key = key
        self._run_id = run_id
        self._disclosed: dict[str, str] = {}  # states by id, of the submissions after `_base`
        self._start_at(since)

    def next_page(self) -> EventPage:
        """What is new, of at most a page of submissions; the ledger has what a run's key is told.

        Raises:
            Unauthorized, NotFound: the key is not valid (any more), or not for this run.
            Unavailable: the database is away; the next look finds what this one did not.
        """
        with self._context.database.read() as session:
            caller = authenticate(session, self._key)
            require_own_run(caller, self._run_id)
            run = runs.get_run(session, self._run_id)
            if run is None:
                raise no_run(self._run_id)
            if self._next == self._base and not self._is_intact(session):
                self._disclosed = {}
                self._start_at(EventCursor(closed=self._base.closed))
            page = submissions.list_submissions(
                session, self._run_id, after=self._next.last or None, limit=PAGE
            )
        events = self._compare(caller, run, page)
        if len(page) == PAGE:
            return EventPage(events, complete=False, finished=False)
        return self._finish(run, events)

    def _start_at(self, base: EventCursor) -> None:
        """Let the next look begin behind `base`."""
        self._base = self._next = self._position = base
        self._is_prefix = True  # whether all between `_base` and `_next` is final

    def _is_intact(self, session: Session) -> bool:
        last = self._base.last
        return (self._base.count, last) == submissions.count_up_to(session, self._run_id, last)

    def _compare(
        self,
        caller: Caller,
        run: RunRecord,
        page: list[tuple[SubmissionRecord, GradeRecord | None]],
    ) -> list[Event]:
        at, position, is_prefix = self._next, self._position, self._is_prefix
        states, positions, new = {}, [], []
        for submission, grade in page:
            state = state_shown(caller, run, submission)
            at = EventCursor(at.count + 1, submission.id, at.closed)
            is_prefix = is_prefix and state in FINAL
            position = at if is_prefix else position
            if self._disclosed.get(submission.id) != state:
                states[submission.id] = state
                positions.append(position)
                new.append((submission, grade))
        shown = show_all(self._context, caller, run, new)
        self._disclosed |= states
        self._next, self._position, self._is_prefix = at, position, is_prefix
        return [Event(where, run, one) for where, one in zip(positions, shown, strict=True)]

    def _finish(self, run: RunRecord, events: list[Event]) -> EventPage:
        """End a look: the next begins where all was final, but for the latest submissions."""
        is_final, is_closed = self._is_prefix, run.state is RunState.CLOSED
        base, position = self._base, self._position
        if is_closed and not base.closed:
            base, position = replace(base, closed=True), replace(position, closed=True)
            events = [*events, Event(position, run, None)]
        final = position.count - base.count
        if final > 2 * KEPT:
            for one in sorted(self._disclosed)[: final - KEPT]:
                del self._disclosed[one]
                base = EventCursor(base.count + 1, one, base.closed)
        self._start_at(base)
        return EventPage(events, complete=True, finished=is_final and is_closed)
