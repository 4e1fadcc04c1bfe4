"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import httpx

from podium_client import requests as r
from podium_client.events import Event, EventStream
from podium_client.follow import follow
from podium_client.place import place_of
from podium_client.requests import Call, Document

Progress = Callable[[int], None]


class Podium:
    """A Podium at an address, called with a key. Close it, or use it in a `with`.

    `wait` is the number of seconds in which a request is repeated while Podium is away or busy.

    In the examples, `podium` has the key of the run `run`; `harness` and `researcher` have theirs.

    >>> with Podium(wait=60) as podium:  # PODIUM_URL and PODIUM_KEY
    ...     podium.competition("my-competition")["title"]
    'Tiny'
    """

    def __init__(
        self, url: str | None = None, key: str | None = None, *, wait: float = 300.0
    ) -> None:
        place = place_of(url, key)
        self._wait = wait
        self._client = httpx.Client(
            base_url=place.url, headers=place.headers, timeout=r.ANSWER_SECONDS
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def competition(self, slug: str) -> Document:
        """A competition, as this key sees it.

        >>> podium.competition("my-competition")["metric"]["name"]
        'root_mean_squared_error'
        """
        return self._document(Call("GET", f"/v1/competitions/{r.part(slug)}"))

    def description(self, slug: str) -> str:
        """The description of the task.

        >>> podium.description("my-competition").splitlines()[0]
        '# Tiny'
        """
        return self._text(Call("GET", f"/v1/competitions/{r.part(slug)}/description"))

    def download(
        self, slug: str, name: str, target: str | Path, progress: Progress | None = None
    ) -> Path:
        """Download a public file, or continue a download that was cut off, and check its digest.

        `progress` gets the number of bytes that are here. A damaged download is removed.

        >>> podium.download("my-competition", "train.csv", "train.csv", print).name
        25
        'train.csv'
        """
        path = Path(target)
        partial = r.partial_of(path)
        expected = r.digest_of(self.competition(slug), name)
        place, retry = r.file_path(slug, name), r.Retry(self._wait)
        found = self._retried(lambda: self._receive(place, partial, progress, retry), retry)
        r.finish_download(found, partial, path, expected)
        return path

    def create_run(
        self, competition: str, seed: int, *, experiment: str | None = None,
        feedback: str | None = None, limits: Document | None = None,
    ) -> Document:  # fmt: skip
        """Create a run; its key is in this answer alone. A harness's key has its experiment.

        >>> harness.create_run("my-competition", seed=7, feedback="none")["state"]
        'open'
        """
        body = {
            "competition": competition, "seed": seed, "experiment": experiment,
            "feedback": feedback, "limits": limits,
        }  # fmt: skip
        return self._document(r.run_call(body))

    def run(self, run: str) -> Document:
        """A run.

        >>> podium.run(run)["state"]
        'open'
        """
        return self._document(Call("GET", f"/v1/runs/{r.part(run)}"))

    def validate(self, run: str, file: str | Path) -> Document:
        """Whether a file's form is valid: `valid`, `violations`. It is not submitted.

        >>> podium.validate(run, "submission.csv")["valid"]
        True
        """
        return self._document(r.csv_call(f"/v1/runs/{r.part(run)}/validate", Path(file), {}))

    def submit(
        self, run: str, file: str | Path, *, message: str = "",
        idempotency_key: str | None = None, wait: int = 60,
    ) -> Document:  # fmt: skip
        """Send a submission, and wait up to `wait` seconds for its outcome.

        The same file is the same submission, unless an `idempotency_key` says otherwise.

        >>> sent = podium.submit(run, "submission.csv", message="trees")
        >>> sent["state"], sent["grade"]["medal"]
        ('graded', 'gold')
        """
        return self._document(r.submission_call(run, Path(file), message, idempotency_key, wait))

    def submission(self, submission: str) -> Document:
        """A submission, as this key sees it.

        >>> podium.submission(sent["id"])["message"]
        'trees'
        """
        return self._document(Call("GET", f"/v1/submissions/{r.part(submission)}"))

    def submissions(self, run: str) -> Iterator[Document]:
        """The run's submissions, oldest first.

        >>> [one["state"] for one in podium.submissions(run)]
        ['graded']
        """
        return self._items(Call("GET", f"/v1/runs/{r.part(run)}/submissions"))

    def events(self, run: str, last_event_id: str | None = None) -> Iterator[Event]:
        """The run's submissions and their changes of state, until the run is closed.

        First come the states of today, or what changed since `last_event_id`. A lost connection is
        made again; some events may come twice then, and none is missed.

        >>> next(podium.events(run)).data["state"]
        'graded'

        Raises:
            PodiumRefused: this key may not follow the run.
            PodiumAway: there was no connection for `wait` seconds.
        """
        return follow(self._client, EventStream(run, last_event_id), self._wait)

    def select(self, run: str, submission: str) -> Document:
        """Choose the run's final submission.

        >>> podium.select(run, sent["id"])["selected"] == sent["id"]
        True
        """
        path = f"/v1/runs/{r.part(run)}/selected"
        return self._document(Call("PUT", path, body={"submission": submission}))

    def grade(
        self, competition: str, file: str | Path, *, seed: int = 0, attempt: int | None = None,
        experiment: str | None = None, format: str | None = None,  # noqa: A002 (as in HTTP)
        idempotency_key: str | None = None, wait: int = 60,
    ) -> Document:  # fmt: skip
        """Grade a file in one call, for harnesses and researchers.

        >>> harness.grade("my-competition", "submission.csv", seed=3)["any_medal"]
        True
        """
        query = {"seed": seed, "attempt": attempt, "experiment": experiment, "format": format}
        return self._document(r.grade_call(competition, Path(file), query, idempotency_key, wait))

    def medal_rates(self, experiment: str, **query: Any) -> Document:
        """An experiment's medal rates; `query` as in HTTP (`suite`, `padding`, ...).

        >>> researcher.medal_rates("my-experiment", padding="fail")["seeds"]
        3
        """
        return self._document(
            Call("GET", f"/v1/experiments/{r.part(experiment)}/medal-rates", query)
        )

    def medal_rates_frame(self, experiment: str, **query: Any) -> Any:
        """An experiment's medal rates as a pandas frame.

        >>> researcher.medal_rates_frame("my-experiment", padding="fail").empty
        False
        """
        path = f"/v1/experiments/{r.part(experiment)}/medal-rates"
        return r.frame(self._text(Call("GET", path, query, {"Accept": "text/csv"})))

    def _items(self, call: Call) -> Iterator[Document]:
        cursor: str | None = None
        while True:
            query = {**call.query, "cursor": cursor, "limit": 1000}
            page = self._document(Call(call.method, call.path, query))
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _document(self, call: Call) -> Document:
        return r.document_of(self._retried(lambda: self._send(call)))

    def _text(self, call: Call) -> str:
        return r.text_of(self._retried(lambda: self._send(call)))

    def _send(self, call: Call) -> r.Answer:
        more: dict[str, Any] = {
            "params": call.parameters,
            "headers": r.headers_of(call),
            "timeout": call.timeout,
        }
        if call.file is None:
            response = self._client.request(call.method, call.path, json=call.body, **more)
            return r.Answer(response.status_code, response.text, response.headers)
        with call.file.open("rb") as opened:
            chunks = iter(lambda: r.read_unchanged(call, opened), b"")
            response = self._client.request(call.method, call.path, content=chunks, **more)
        return r.Answer(response.status_code, response.text, response.headers)

    def _receive(
        self, path: str, partial: Path, progress: Progress | None, retry: r.Retry
    ) -> r.Answer:
        have = r.size_of(partial)
        with self._client.stream("GET", path, headers=r.range_after(have)) as response:
            if not response.is_success:
                response.read()
                return r.Answer(response.status_code, response.text, response.headers)
            with partial.open("ab" if response.status_code == r.PARTIAL else "wb") as target:
                for chunk in response.iter_bytes():
                    target.write(chunk)
                    if target.tell() > have:
                        retry.begin()
                    if progress is not None:
                        progress(target.tell())
        return r.Answer(response.status_code, "", response.headers)

    def _retried(self, send: Callable[[], r.Answer], retry: r.Retry | None = None) -> r.Answer:
        retry = retry or r.Retry(self._wait)
        while True:
            try:
                answer = send()
            except httpx.TransportError as error:
                answer = r.away(error)
            pause = retry.pause_after(answer)
            if pause is None:
                return answer
            time.sleep(pause)
