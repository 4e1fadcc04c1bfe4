"""Server-sent events: lines of a stream to events, and when to connect again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from podium_client.requests import Document, part

ENDED = 204  # all events were sent, and no more can come


@dataclass(frozen=True)
class Event:
    """A change of a run: `name` is `submission` or `run`, `data` what a GET of it shows.

    A stream that begins with `id` as its `last_event_id` has what changed after this event.
    """

    name: str
    id: str
    data: Document


@dataclass
class EventStream:
    """The state of a run's event stream, over all its connections."""

    run: str
    last_id: str | None = None
    pause: float = 2.0  # seconds before the next connection, as the server names them
    _field: dict[str, str] = field(default_factory=dict)
    _line: str = ""  # the beginning of a line that has not ended yet

    @property
    def path(self) -> str:
        """The path of the stream."""
        return f"/v1/runs/{part(self.run)}/events"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a connection that continues after the last event."""
        self._field, self._line = {}, ""  # an event that was cut off comes again
        accept = {"Accept": "text/event-stream"}
        return accept if self.last_id is None else {**accept, "Last-Event-ID": self.last_id}

    def events_in(self, text: str) -> Iterator[Event]:
        """The events that end in the next piece of the stream's text.

        A line ends with a newline. httpx's lines end at other characters too, which texts may have.
        """
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if (event := self.read(line.removesuffix("\r"))) is not None:
                yield event

    def read(self, line: str) -> Event | None:
        """The event that this line ends, if it ends one."""
        if not line:
            found, self._field = self._field, {}
            if "data" not in found:
                return None
            self.last_id = found.get("id", self.last_id)
            if found.get("event") == "run":  # it is closed, so that this stream ends soon
                self.pause = 0.0
            return Event(found.get("event", ""), self.last_id or "", json.loads(found["data"]))
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "retry" and value.isdigit():
            self.pause = int(value) / 1000
        elif name == "data" and "data" in self._field:
            self._field["data"] += f"\n{value}"
        elif name:  # a line that begins with a colon is a comment
            self._field[name] = value
        return None
