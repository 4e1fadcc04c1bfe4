"""Requests to a Podium, by the standard library alone."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRY_AGAIN = frozenset({429, 502, 503, 504})
LONGEST_PAUSE = 30.0  # seconds
ANSWER_SECONDS = 660.0  # Podium waits for a grade for at most 600
Document = dict[str, Any]


class PodiumError(RuntimeError):
    """Podium did not grade. The file is not the reason."""


@dataclass(frozen=True)
class Podium:
    """A Podium at an address, and the run that files are graded for."""

    url: str
    key: str
    experiment: str
    seed: int
    wait: float  # seconds

    def grade(self, competition: str, file: Path, *, form: str = "mle-bench") -> Document:
        """The report of a file. The same file of the same run is one submission.

        Raises:
            PodiumError: Podium cannot be reached, refuses the key, or failed.
        """
        query = {"seed": str(self.seed), "format": form}
        return self._call("POST", self._grade_path(competition, query), file)

    def lines(self, competition: str) -> Document:
        """The report of a run without a submission: it has the medal lines."""
        return self._call("GET", self._grade_path(competition, {}))

    def validate(self, competition: str, file: Path) -> Document:
        """Whether a file's form is valid: `valid` and `violations`. It is not submitted."""
        body: Document = {"competition": competition, "seed": self.seed, "feedback": "none"}
        if self.experiment:
            body["experiment"] = self.experiment
        made = self._call("POST", "/v1/runs", json.dumps(body).encode(), existing=True)
        run = made.get("run") or made.get("id")
        if run is None:
            raise PodiumError(f"{self.url} makes no run: {made.get('detail')}")
        return self._call("POST", f"/v1/runs/{run}/validate", file)

    def _grade_path(self, competition: str, query: dict[str, str]) -> str:
        if self.experiment and query:
            query = {**query, "experiment": self.experiment}
        path = f"/v1/competitions/{urllib.parse.quote(competition, safe='')}/grade"
        return f"{path}?{urllib.parse.urlencode(query)}" if query else path

    def _call(
        self, method: str, path: str, body: Path | bytes | None = None, *, existing: bool = False
    ) -> Document:
        """One request, repeated while Podium is away or busy. All of them may be repeated.

        With `existing`, 409 is an answer too: it names what exists.
        """
        deadline: float | None = None  # from the first failure: a grade may take long before it
        pause = 0.5
        while True:
            try:
                status, retry_after, text = self._send(method, path, body)
            except (OSError, http.client.HTTPException) as error:
                status, retry_after, text = 0, None, str(error)
            if 200 <= status < 300 or (existing and status == 409):
                return _document(text)
            if status and status not in TRY_AGAIN:
                raise PodiumError(f"{self.url} answered {status}: {_detail(text)}")
            if deadline is None:
                deadline = time.monotonic() + self.wait
            named = retry_after or ""  # a proxy may write a date, or 0
            is_number = named.isascii() and named.isdigit()
            pause = min(float(named if is_number else 0) or pause * 2, LONGEST_PAUSE)
            if time.monotonic() + pause > deadline:
                said = f"answered {status}: {_detail(text)}" if status else f"is away: {text}"
                raise PodiumError(f"{self.url} {said} (tried for {self.wait:g} seconds).")
            time.sleep(pause)

    def _send(
        self, method: str, path: str, body: Path | bytes | None
    ) -> tuple[int, str | None, str]:
        headers = {"Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.url}{path}", headers=headers, method=method)  # noqa: S310 (checked in `from_environment`)
        if isinstance(body, bytes):
            request.add_header("Content-Type", "application/json")
            request.data = body
            return _read(request)
        if body is None:
            return _read(request)
        request.add_header("Content-Type", "text/csv")
        request.add_header("Content-Length", str(body.stat().st_size))
        with body.open("rb") as file:
            request.data = file
            return _read(request)


def from_environment() -> Podium:
    """The Podium that PODIUM_URL and PODIUM_KEY name.

    Raises:
        PodiumError: a variable is missing or wrong.
    """
    url = os.environ.get("PODIUM_URL", "").rstrip("/")
    key = os.environ.get("PODIUM_KEY", "").strip()  # a file ends with a newline
    if not url.startswith(("http://", "https://")):
        raise PodiumError("Set PODIUM_URL to the address of your Podium, as http://podium:7777.")
    if not key:
        raise PodiumError("Set PODIUM_KEY to the key of a harness (podium keys create harness).")
    try:
        seed = int(os.environ.get("PODIUM_SEED", "0"))
        wait = float(os.environ.get("PODIUM_WAIT_SECONDS", "300"))
    except ValueError as error:
        raise PodiumError(f"PODIUM_SEED and PODIUM_WAIT_SECONDS are numbers: {error}.") from None
    return Podium(url, key, os.environ.get("PODIUM_EXPERIMENT", ""), seed, wait)


def _read(request: urllib.request.Request) -> tuple[int, str | None, str]:
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
            return answer.status, None, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return (
                error.code,
                error.headers.get("Retry-After"),
                error.read().decode(errors="replace"),
            )


def _document(text: str) -> Document:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise PodiumError("PODIUM_URL is not the address of a Podium: its answer is not JSON.")
    return found


def _detail(text: str) -> str:
    try:
        return str(json.loads(text)["detail"])
    except (ValueError, KeyError, TypeError):
        return text[:200] or "without a reason"
