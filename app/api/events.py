"""A run's events as they happen: server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request

from app.api import serializers
from app.api.dependencies import Anyone, Ctx, Id, Key
from app.api.http.event_stream import PER_RUN_KEY, EventStreamResponse, StreamLimit
from app.api.http.problems import responses
from app.api.http.threads import read_events, read_history
from app.api.schemas.runs import RunOut
from app.api.schemas.submissions import SubmissionOut
from app.errors import NotFound, RunArchived, Unauthorized, Unavailable
from app.services.auth import Caller
from app.services.experiments import reported_scores, runs
from app.services.runtime.context import Context
from app.services.submissions.run_events import Event, EventCursor, EventPage, RunEvents

router = APIRouter(prefix="/v1/runs", tags=["runs"])
RETRY = "retry: 2000\n\n"  # milliseconds until a client reconnects after a lost connection
# Escaped in JSON. Many clients end a line at these, and would read the rest as a field.
LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
PAUSE_SECONDS = 0.02  # coalesces changes within this time
# The schema of one event: OpenAPI before 3.2 can only declare it for the complete stream.
EVENT: dict[str, Any] = {
    "type": "object",
    "required": ["event", "id", "data"],
    "properties": {
        "event": {"enum": ["submission", "run"]},
        "id": {"type": "string", "description": "for `Last-Event-ID`"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "description": "the submission or the run, as a GET shows it",
        },
    },
}
LastEventId = Annotated[
    str | None,
    Header(
        max_length=100, description="`id` of the last event received; without it, from the start"
    ),
]


@router.get(
    "/{run_id}/events",
    status_code=200,  # FastAPI finds no default for it in the class
    response_class=EventStreamResponse,
    responses={
        200: {
            "description": "Events, as they happen",
            "content": {"text/event-stream": {"schema": EVENT}},
        },
        204: {"description": "All events were sent, and no more can come: do not reconnect"},
        **responses(400, 401, 403, 404, 422, 429),
    },
)
def follow_run(
    request: Request,
    context: Ctx,
    caller: Anyone,
    key: Key,
    run_id: Id,
    last_event_id: LastEventId = None,
) -> Any:
    """Server-sent events: the run's submissions and their changes of state, and the run's closing.

    First come the current states of submissions that changed since `Last-Event-ID`, or of all.
    `event: submission` has the submission as `GET /v1/submissions/{id}` shows it to this key,
    `event: run` the closed run. States that last a moment may be left out. If there are no events,
    the server sends comments. The stream ends when the run is closed and all its submissions are
    settled, after an hour (PODIUM_EVENT_STREAM_SECONDS), or when the server stops: then reconnect.
    """
    since = EventCursor.parse(last_event_id) if last_event_id else EventCursor()
    runs.find(context, caller, run_id)
    run_events = RunEvents(context, key, run_id, since)
    events = partial(_events, request.app.state.streams, context, caller, run_id, run_events)
    return EventStreamResponse(
        events,
        seconds=context.settings.event_stream_seconds,
        heartbeat=context.settings.event_heartbeat_seconds,
    )


async def _events(
    streams: StreamLimit, context: Context, caller: Caller, run_id: str, run_events: RunEvents
) -> AsyncGenerator[str]:
    most = PER_RUN_KEY if caller.is_run else streams.per_reader
    notifications = context.notifications
    begun, read = False, read_events
    # Each page checks again whether the key is valid, so pages are read at least this often.
    longest_wait = wait = context.settings.event_heartbeat_seconds
    with (
        notifications.subscribe(run_id) as changed,
        streams.slot(caller.key_id, most, changed.set) as place,
    ):
        while not (notifications.is_closed or place.is_lost):
            changed.clear()
            try:
                found, text = await read(_next_page, context, caller, run_events)
            except (Unavailable, Unauthorized, RunArchived, NotFound) as error:
                if not begun:
                    raise
                if not isinstance(error, Unavailable):
                    return  # the key was revoked or has expired, or its run was archived
                wait = longest_wait
            else:
                if text or not (begun or found.finished):
                    yield text if begun else RETRY + text
                    begun = True
                if found.finished:
                    return
                read = read_events if found.complete else read_history
                if not found.complete:
                    continue
                wait = _seconds_until(found.next_at, longest_wait)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), wait)
                await asyncio.sleep(PAUSE_SECONDS)
        if not begun:
            raise streams.full() if place.is_lost else Unavailable("Podium is shutting down.")


def _seconds_until(at: datetime | None, longest: float) -> float:
    if at is None:
        return longest
    return min(longest, max(0.0, (at - datetime.now(UTC)).total_seconds()))


def _next_page(context: Context, caller: Caller, run_events: RunEvents) -> tuple[EventPage, str]:
    found = run_events.next_page()
    return found, "".join(_text(context, caller, event) for event in found.events)


def _text(context: Context, caller: Caller, event: Event) -> str:
    if event.submission is None:
        info = reported_scores.external_info(context, caller, [event.run.id])[event.run.id]
        run = serializers.run(context, event.run, info)
        name, body = "run", RunOut.model_validate(run).model_dump_json()
    else:
        shown = serializers.submission(event.submission)
        name, body = "submission", SubmissionOut.model_validate(shown).model_dump_json()
    return f"event: {name}\nid: {event.position}\ndata: {body.translate(LINE_ENDS)}\n\n"
