"""A client of server-sent events, small enough to trust."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import httpx


class Events:
    """The events of an open stream, one by one; `ended` once it is over."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.last_id = ""
        self.comments = 0
        self.ended = False
        self._lines = response.iter_lines()

    def next(self) -> tuple[str, dict[str, Any]] | None:
        """The next event's name and data; None when the stream has ended."""
        name, data = "message", ""
        for line in self._lines:
            field, _, value = line.partition(": ")
            if line.startswith(":"):
                self.comments += 1
            elif field == "event":
                name = value
            elif field == "id":
                self.last_id = value
            elif field == "data":
                data += value
            elif not line and data:
                return name, json.loads(data)
        self.ended = True
        return None

    def until(self, state: str) -> list[tuple[str, str]]:
        """(id, state) of each event up to the first one in this state."""
        seen = []
        while (event := self.next()) is not None:
            seen.append((event[1]["id"], event[1]["state"]))
            if event[1]["state"] == state:
                return seen
        raise AssertionError(f"the stream ended before {state!r}: {seen}")

    def rest(self) -> list[tuple[str, str]]:
        """(id, state) of all events until the stream ends."""
        seen = []
        while (event := self.next()) is not None:
            seen.append((event[1]["id"], event[1]["state"]))
        return seen


@contextlib.contextmanager
def follow(client: httpx.Client, run: str, last_event_id: str = "") -> Iterator[Events]:
    """Follow a run."""
    headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
    with client.stream("GET", f"/v1/runs/{run}/events", headers=headers) as response:
        assert response.status_code == 200, response.read()
        yield Events(response)
