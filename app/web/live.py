"""Notifies open pages of changes to their run.

The stream carries no data. A page that is notified requests itself again, so one template and one
check of the reader serve both.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from app.api.dependencies import FOR_RESEARCHERS, Anyone, Ctx, Id, Key, any_caller
from app.api.http.event_stream import EventStreamResponse, StreamLimit
from app.api.http.threads import run_in_thread
from app.errors import PodiumError, Unavailable
from app.services.auth import require_researcher
from app.services.experiments import runs
from app.services.runtime.context import Context

router = APIRouter(include_in_schema=False, dependencies=[FOR_RESEARCHERS])
PER_LOGIN = 8  # a browser opens six connections to a server, and hidden pages keep none
PAUSE_SECONDS = 1.0  # between two words of change
LONGEST_PAUSE_SECONDS = 5.0  # while changes go on: a busy run costs a page in five seconds
TOGETHER_SECONDS = 0.2  # a run is closed and its receipt signed, in two transactions
CHANGED = "event: changed\ndata: changed\n\n"


@router.get("/runs/{run_id}/changes", response_class=EventStreamResponse)
def follow_changes(
    request: Request, context: Ctx, caller: Anyone, key: Key, run_id: Id
) -> EventStreamResponse:
    """Server-sent events without data: one at the start, and one whenever the run has changed.

    The stream ends with the login, or after PODIUM_EVENT_STREAM_SECONDS.
    """
    runs.find(context, caller, run_id)

    def check() -> None:
        """Raise an error if the reader may not see the run any more."""
        reader = any_caller(request, context, key)
        require_researcher(reader)
        runs.find(context, reader, run_id)

    events = partial(
        _changes, request.app.state.streams, context, check, f"page of {caller.key_id}", run_id
    )
    return EventStreamResponse(
        events,
        seconds=context.settings.event_stream_seconds,
        heartbeat=context.settings.event_heartbeat_seconds,
    )


async def _changes(
    streams: StreamLimit, context: Context, check: Callable[[], Any], holder: str, run_id: str
) -> AsyncGenerator[str]:
    notifications = context.notifications
    with (
        notifications.subscribe(run_id) as changed,
        streams.slot(holder, PER_LOGIN, changed.set) as place,
    ):
        yield CHANGED  # the page may be older than the subscription
        pause = PAUSE_SECONDS
        while not (notifications.is_closed or place.is_lost):
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS) if changed.is_set() else PAUSE_SECONDS
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), context.settings.event_heartbeat_seconds)
            has_changed = changed.is_set()
            if has_changed:
                await asyncio.sleep(TOGETHER_SECONDS)
            changed.clear()
            try:
                await run_in_thread(check)
            except Unavailable:  # the database is away, so the page could not be made
                if has_changed:
                    changed.set()  # for the next check
                continue
            except PodiumError:
                yield CHANGED  # the page reloads and shows the authorization error
                return
            if has_changed:
                yield CHANGED
