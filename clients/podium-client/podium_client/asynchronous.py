"""The asynchronous client: the same methods as coroutines, for asyncio and trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, BinaryIO, Self

import anyio
import anyio.to_thread
import httpx

from podium_client import requests as r
from podium_client.events import Event, EventStream
from podium_client.follow import follow_async
from podium_client.place import place_of
from podium_client.requests import Call, Document

Progress = Callable[[int], None]


class AsyncPodium:
    """A Podium at an address, called with a key. Close it, or use it in an `async with`.

    `wait` is the number of seconds in which a request is repeated while Podium is away or busy.
    `Podium` has an example of each method.

    >>> import asyncio
    >>> async def title() -> str:
    ...     async with AsyncPodium() as podium:
    ...         return (await podium.competition("my-competition"))["title"]
    >>> asyncio.run(title())
    'Tiny'
    """

    def __init__(
        self, url: str | None = None, key: str | None = None, *, wait: float = 300.0
    ) -> None:
        place = place_of(url, key)
        self._wait = wait
        self._client = httpx.AsyncClient(
            base_url=place.url, headers=place.headers, timeout=r.ANSWER_SECONDS
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def competition(self, slug: str) -> Document:
        """A competition, as this key sees it."""
        return await self._document(Call("GET", f"/v1/competitions/{r.part(slug)}"))

    async def description(self, slug: str) -> str:
        """The description of the task."""
        return await self._text(Call("GET", f"/v1/competitions/{r.part(slug)}/description"))

    async def download(
        self, slug: str, name: str, target: str | Path, progress: Progress | None = None
    ) -> Path:
        """Download a public file, or continue a download that was cut off, and check its digest.

        `progress` gets the number of bytes that are here. A damaged download is removed.
        """
        path = Path(target)
        partial = r.partial_of(path)
        expected = r.digest_of(await self.competition(slug), name)
        place, retry = r.file_path(slug, name), r.Retry(self._wait)
        found = await self._retried(lambda: self._receive(place, partial, progress, retry), retry)
        r.finish_download(found, partial, path, expected)
        return path

    async def create_run(
        self, competition: str, seed: int, *, experiment: str | None = None,
        feedback: str | None = None, limits: Document | None = None,
    ) -> Document:  # fmt: skip
        """Create a run; its key is in this answer alone. A harness's key has its experiment."""
        body = {
            "competition": competition, "seed": seed, "experiment": experiment,
            "feedback": feedback, "limits": limits,
        }  # fmt: skip
        return await self._document(r.run_call(body))

    async def run(self, run: str) -> Document:
        """A run."""
        return await self._document(Call("GET", f"/v1/runs/{r.part(run)}"))

    async def validate(self, run: str, file: str | Path) -> Document:
        """Whether a file's form is valid: `valid`, `violations`. It is not submitted."""
        return await self._document(r.csv_call(f"/v1/runs/{r.part(run)}/validate", Path(file), {}))

    async def submit(
        self, run: str, file: str | Path, *, message: str = "",
        idempotency_key: str | None = None, wait: int = 60,
    ) -> Document:  # fmt: skip
        """Send a submission, and wait up to `wait` seconds for its outcome."""
        return await self._document(
            r.submission_call(run, Path(file), message, idempotency_key, wait)
        )

    async def submission(self, submission: str) -> Document:
        """A submission, as this key sees it."""
        return await self._document(Call("GET", f"/v1/submissions/{r.part(submission)}"))

    def submissions(self, run: str) -> AsyncIterator[Document]:
        """The run's submissions, oldest first."""
        return self._items(Call("GET", f"/v1/runs/{r.part(run)}/submissions"))

    def events(self, run: str, last_event_id: str | None = None) -> AsyncIterator[Event]:
        """The run's submissions and their changes of state, until the run is closed.

        Raises:
            PodiumRefused: this key may not follow the run.
            PodiumAway: there was no connection for `wait` seconds.
        """
        return follow_async(self._client, EventStream(run, last_event_id), self._wait)

    async def select(self, run: str, submission: str) -> Document:
        """Choose the run's final submission."""
        path = f"/v1/runs/{r.part(run)}/selected"
        return await self._document(Call("PUT", path, body={"submission": submission}))

    async def grade(
        self, competition: str, file: str | Path, *, seed: int = 0, attempt: int | None = None,
        experiment: str | None = None, format: str | None = None,  # noqa: A002 (as in HTTP)
        idempotency_key: str | None = None, wait: int = 60,
    ) -> Document:  # fmt: skip
        """Grade a file in one call, for harnesses and researchers."""
        query = {"seed": seed, "attempt": attempt, "experiment": experiment, "format": format}
        return await self._document(
            r.grade_call(competition, Path(file), query, idempotency_key, wait)
        )

    async def medal_rates(self, experiment: str, **query: Any) -> Document:
        """An experiment's medal rates; `query` as in HTTP (`suite`, `padding`, ...)."""
        return await self._document(
            Call("GET", f"/v1/experiments/{r.part(experiment)}/medal-rates", query)
        )

    async def medal_rates_frame(self, experiment: str, **query: Any) -> Any:
        """An experiment's medal rates as a pandas frame."""
        path = f"/v1/experiments/{r.part(experiment)}/medal-rates"
        return r.frame(await self._text(Call("GET", path, query, {"Accept": "text/csv"})))

    async def _items(self, call: Call) -> AsyncIterator[Document]:
        cursor: str | None = None
        while True:
            query = {**call.query, "cursor": cursor, "limit": 1000}
            page = await self._document(Call(call.method, call.path, query))
            for item in page["items"]:
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def _document(self, call: Call) -> Document:
        return r.document_of(await self._retried(lambda: self._send(call)))

    async def _text(self, call: Call) -> str:
        return r.text_of(await self._retried(lambda: self._send(call)))

    async def _send(self, call: Call) -> r.Answer:
        more: dict[str, Any] = {
            "params": call.parameters,
            "headers": r.headers_of(call),
            "timeout": call.timeout,
        }
        if call.file is None:
            response = await self._client.request(call.method, call.path, json=call.body, **more)
            return r.Answer(response.status_code, response.text, response.headers)
        with call.file.open("rb") as opened:
            response = await self._client.request(
                call.method, call.path, content=_chunks(call, opened), **more
            )
        return r.Answer(response.status_code, response.text, response.headers)

    async def _receive(
        self, path: str, partial: Path, progress: Progress | None, retry: r.Retry
    ) -> r.Answer:
        have = r.size_of(partial)
        async with self._client.stream("GET", path, headers=r.range_after(have)) as response:
            if not response.is_success:
                await response.aread()
                return r.Answer(response.status_code, response.text, response.headers)
            with partial.open("ab" if response.status_code == r.PARTIAL else "wb") as target:
                async for chunk in response.aiter_bytes():
                    target.write(chunk)
                    if target.tell() > have:
                        retry.begin()
                    if progress is not None:
                        progress(target.tell())
        return r.Answer(response.status_code, "", response.headers)

    async def _retried(
        self, send: Callable[[], Awaitable[r.Answer]], retry: r.Retry | None = None
    ) -> r.Answer:
        retry = retry or r.Retry(self._wait)
        while True:
            try:
                answer = await send()
            except httpx.TransportError as error:
                answer = r.away(error)
            pause = retry.pause_after(answer)
            if pause is None:
                return answer
            await anyio.sleep(pause)


async def _chunks(call: Call, opened: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := await anyio.to_thread.run_sync(r.read_unchanged, call, opened):
        yield chunk
