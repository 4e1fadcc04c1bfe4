"""Follow a run over as many connections as it takes, with either client."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import anyio
import httpx

from podium_client.events import ENDED, Event, EventStream
from podium_client.requests import Answer, Retry, away, text_of


def follow(client: httpx.Client, stream: EventStream, wait: float) -> Iterator[Event]:
    """The events of a run until no more can come."""
    retry = Retry(wait)
    while True:
        try:
            with client.stream("GET", stream.path, headers=stream.headers) as response:
                if response.status_code == ENDED:
                    return
                if response.is_success:
                    for text in response.iter_text():
                        yield from stream.events_in(text)
                        retry = Retry(wait)
                    answer = None
                else:
                    response.read()
                    answer = Answer(response.status_code, response.text, response.headers)
        except httpx.TransportError as error:
            answer = away(error)
        time.sleep(_pause(stream, retry, answer))


async def follow_async(
    client: httpx.AsyncClient, stream: EventStream, wait: float
) -> AsyncIterator[Event]:
    """The events of a run until no more can come."""
    retry = Retry(wait)
    while True:
        try:
            async with client.stream("GET", stream.path, headers=stream.headers) as response:
                if response.status_code == ENDED:
                    return
                if response.is_success:
                    async for text in response.aiter_text():
                        for event in stream.events_in(text):
                            yield event
                        retry = Retry(wait)
                    answer = None
                else:
                    await response.aread()
                    answer = Answer(response.status_code, response.text, response.headers)
        except httpx.TransportError as error:
            answer = away(error)
        await anyio.sleep(_pause(stream, retry, answer))


def _pause(stream: EventStream, retry: Retry, answer: Answer | None) -> float:
    """Seconds until the next connection, after a stream that ended (None) or another answer.

    Raises:
        PodiumRefused: the answer stands.
        PodiumAway: there was no answer until the end of the waiting time.
    """
    if answer is None:
        return stream.pause
    pause = retry.pause_after(answer)
    if pause is None:
        text_of(answer)  # raises
        return stream.pause
    return pause
