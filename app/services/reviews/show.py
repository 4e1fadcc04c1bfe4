"""The queue of runs with signals, and one run with all of them."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.states import QueueState
from app.errors import NotFound
from app.review.signals import Level, Signal
from app.services.runtime.context import Context
from app.services.runtime.pages import cursor_number, one_more, page_of
from app.storage.database.records import RunRecord
from app.storage.queries import runs
from app.storage.queries.reviews import decisions, known_leaks, signals
from app.storage.queries.reviews.decisions import ReviewRecord
from app.storage.queries.reviews.known_leaks import KnownLeakRecord
from app.storage.queries.reviews.signals import QueuedRun, SignalRecord


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """The runs of the queue that are requested; None: any."""

    state: QueueState = QueueState.OPEN
    level: Level | None = None
    signal: Signal | None = None
    experiment: str | None = None
    competition: str | None = None


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A run of the queue with its signals, oldest first."""

    run: QueuedRun
    signals: list[SignalRecord]


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A run with its signals and the decisions about it, oldest first."""

    run: RunRecord
    signals: list[SignalRecord]
    decisions: list[ReviewRecord]


def page(
    context: Context, wanted: QueueFilter, after: str | None, limit: int | None
) -> tuple[list[QueueItem], str | None]:
    """A page of the queue, latest signal first, and the next cursor.

    Raises:
        Invalid: the cursor is not of this list.
    """
    before = cursor_number(after)
    states = {QueueState.OPEN: True, QueueState.DECIDED: False, QueueState.ALL: None}
    with context.database.read() as session:
        found = signals.queue(
            session,
            is_open=states[wanted.state],
            level=wanted.level,
            signal=wanted.signal,
            experiment=wanted.experiment,
            competition=wanted.competition,
            before=before,
            limit=one_more(limit),
        )
        shown, cursor = page_of(found, limit, lambda one: str(one.last))
        each = signals.of_runs(session, [one.run for one in shown])
    items = [QueueItem(one, each[one.run]) for one in shown]
    return items, cursor


def of_run(context: Context, run_id: str) -> ReviewedRun:
    """A run with its signals and decisions.

    Raises:
        NotFound: the run does not exist.
    """
    with context.database.read() as session:
        run = runs.get_run(session, run_id)
        if run is None:
            raise NotFound(f"There is no run {run_id!r}.")
        return ReviewedRun(run, signals.of_run(session, run_id), decisions.of_run(session, run_id))


def listed_leaks(context: Context, slug: str) -> list[KnownLeakRecord]:
    """The files that are listed as leaked answers of a competition."""
    with context.database.read() as session:
        return known_leaks.of_competition(session, slug)
