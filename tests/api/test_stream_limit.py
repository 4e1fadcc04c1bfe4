"""How many event streams one key may have open."""

from __future__ import annotations

import contextlib

import pytest

from app.api.http.event_stream import StreamLimit, TooManyStreams
from app.errors import Unavailable


def test_one_reader_leaves_half_of_the_streams_to_others() -> None:
    streams = StreamLimit(5)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(streams.slot("reader", streams.per_reader))
        with pytest.raises(TooManyStreams), streams.slot("reader", streams.per_reader):
            pass
        for _ in range(3):
            stack.enter_context(streams.slot("run", 8))
        with pytest.raises(Unavailable), streams.slot("run", 8):
            pass
    with streams.slot("reader", streams.per_reader):
        pass
    assert StreamLimit(1).per_reader == 1
