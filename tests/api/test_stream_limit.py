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


def test_the_first_stream_of_a_key_takes_the_place_of_one_of_whoever_has_most() -> None:
    streams, told = StreamLimit(5), []
    with contextlib.ExitStack() as stack:
        for name in ("few", "many", "many", "many", "few"):
            stack.enter_context(streams.slot(name, 8, lambda name=name: told.append(name)))
        places = [stack.enter_context(streams.slot(name, 8)) for name in ("new", "newer")]
        assert told == ["many", "few"]
        for name in ("many", "few", "new", "newer"):
            with pytest.raises(Unavailable), streams.slot(name, 8):
                pass
        stack.enter_context(streams.slot("newest", 8))
        assert told == ["many", "few", "many"]
        with pytest.raises(Unavailable), streams.slot("one too many", 8):
            pass
        assert not any(place.is_lost for place in places)
    assert streams == StreamLimit(5)


def test_streams_that_lost_their_places_and_do_not_end_are_bounded() -> None:
    """Their clients read nothing, so that they learn late of it."""
    streams = StreamLimit(4)
    with contextlib.ExitStack() as lasting:
        for _ in range(4):
            lasting.enter_context(streams.slot("many", 8))
        for number in range(4):
            with streams.slot(f"new {number}", 8):
                pass
            lasting.enter_context(streams.slot("many", 8))
        with pytest.raises(Unavailable), streams.slot("one too many", 8):
            pass
    assert streams == StreamLimit(4)
