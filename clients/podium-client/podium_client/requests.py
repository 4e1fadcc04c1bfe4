"""The requests of both clients as values, and what follows from an answer."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import httpx

from podium_client.errors import PodiumAway, PodiumError, PodiumRefused

TRY_AGAIN = frozenset({429, 502, 503, 504})
LONGEST_PAUSE = 60.0  # seconds
ANSWER_SECONDS = 120.0  # more than those in which Podium was asked to wait
CHUNK = 1 << 20
PARTIAL, COMPLETE = 206, 416  # 416: no bytes are missing after those of the partial file
Document = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A request that may be repeated."""

    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Document | None = None
    file: Path | None = None
    version: tuple[int, ...] = ()  # of the file
    wait: float = 0  # seconds after which Podium answers at the latest

    @property
    def timeout(self) -> float:
        """Seconds without a byte after which there is no answer."""
        return ANSWER_SECONDS + self.wait

    @property
    def parameters(self) -> dict[str, Any]:
        """The query without parameters that are None."""
        return {name: value for name, value in self.query.items() if value is not None}


@dataclass(frozen=True)
class Answer:
    """An answer. Without one, `status` is 0 and `text` says why."""

    status_code: int
    text: str
    headers: Mapping[str, str]


def away(error: Exception) -> Answer:
    """There was no answer."""
    return Answer(0, str(error) or type(error).__name__, {})


class Retry:
    """When to send a request again, in the `wait` seconds after its first failure.

    The time before that does not count: a large file may have been on its way for an hour.
    """

    def __init__(self, wait: float) -> None:
        self._wait = wait
        self.begin()

    def begin(self) -> None:
        """Forget earlier failures: Podium was there again, and sent more of a file."""
        self._deadline: float | None = None
        self._tried = 0

    def pause_after(self, answer: Answer) -> float | None:
        """The seconds to wait; None: the answer stands.

        Raises:
            PodiumAway: there was no answer until the end of the waiting time.
        """
        status = answer.status_code
        if status and status not in TRY_AGAIN:
            return None
        if self._deadline is None:
            self._deadline = time.monotonic() + self._wait
        named = answer.headers.get("Retry-After", "")
        is_number = named.isascii() and named.isdigit()  # a proxy may write a date, or 0
        growing = min(0.5 * 2.0 ** min(self._tried, 10), LONGEST_PAUSE)
        pause = float(named if is_number else 0) or growing
        self._tried += 1
        if time.monotonic() + pause <= self._deadline:
            return pause
        if not status:
            raise PodiumAway(f"Podium does not answer: {answer.text}")
        return None  # the refusal says more than an error of ours


def document_of(answer: Answer) -> Document:
    """The document of an answer.

    Raises:
        PodiumRefused: the status is not one of success.
        PodiumError: the answer is not a JSON object.
    """
    try:
        found = json.loads(text_of(answer))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise PodiumError("This is not the address of a Podium: its answer is not a JSON object.")
    return found


def text_of(answer: Answer) -> str:
    """The text of an answer.

    Raises:
        PodiumRefused: the status is not one of success.
    """
    if 200 <= answer.status_code < 300:
        return answer.text
    try:
        problem = json.loads(answer.text)
    except ValueError:
        problem = None
    fallback = {"detail": answer.text[:200]}
    raise PodiumRefused(answer.status_code, problem if isinstance(problem, dict) else fallback)


def headers_of(call: Call) -> httpx.Headers:
    """The headers of a request. Notes are in any language, and httpx alone takes only ASCII."""
    return httpx.Headers(call.headers, encoding="utf-8")


def part(text: str) -> str:
    """A text as one part of a path.

    Raises:
        PodiumError: it is empty.
    """
    if not text:
        raise PodiumError("The name or id of what is asked for is empty.")
    return quote(text, safe="")


def csv_call(path: str, file: Path, query: Document, wait: int | None = None) -> Call:
    """Send a CSV file, and wait so many seconds for its outcome."""
    found = file.stat()
    headers = {"Content-Type": "text/csv", "Content-Length": str(found.st_size)}
    if wait is not None:
        headers["Prefer"] = f"wait={wait}"
    return Call("POST", path, query, headers, file=file, version=_version(found), wait=wait or 0)


def read_unchanged(call: Call, opened: BinaryIO) -> bytes:
    """The next bytes of the call's file, which other attempts may have sent before.

    Raises:
        PodiumError: the file is not the one that the call was made for.
    """
    found = opened.read(CHUNK)
    if _version(os.fstat(opened.fileno())) != call.version:
        raise PodiumError(
            f"{call.file} changed while it was sent. Podium may have it as it was before. Send it "
            "again when it is complete."
        )
    return found


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def submission_call(
    run: str, file: Path, message: str, idempotency_key: str | None, wait: int
) -> Call:
    """Send a submission. Without a key, the digest of the file is the Idempotency-Key.

    Raises:
        PodiumError: the message has several lines.
    """
    if len(message.splitlines()) > 1 or message.endswith(("\n", "\r")):
        raise PodiumError("The message is a note of one line: it has a line break.")
    call = csv_call(f"/v1/runs/{part(run)}/submissions", file, {}, wait)
    headers = {
        "Idempotency-Key": idempotency_key or digest(file),
        **({"X-Podium-Message": message} if message else {}),
    }
    return replace(call, headers=call.headers | headers)


def grade_call(
    competition: str, file: Path, query: Document, idempotency_key: str | None, wait: int
) -> Call:
    """Grade a file in one call."""
    call = csv_call(f"/v1/competitions/{part(competition)}/grade", file, query, wait)
    headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
    return replace(call, headers=call.headers | headers)


def run_call(body: Document) -> Call:
    """Create a run."""
    return Call("POST", "/v1/runs", body={k: v for k, v in body.items() if v is not None})


def file_path(competition: str, name: str) -> str:
    """The path of a public file."""
    return f"/v1/competitions/{part(competition)}/files/{quote(name)}"


def partial_of(target: Path) -> Path:
    """The file of a download that is not complete.

    Raises:
        PodiumError: the target is a folder.
    """
    if target.is_dir():
        raise PodiumError(f"{target} is a folder: name a file in it.")
    return target.with_name(f"{target.name}.partial")


def size_of(partial: Path) -> int:
    """The number of bytes that are here of a download."""
    return partial.stat().st_size if partial.exists() else 0


def range_after(have: int) -> dict[str, str]:
    """The header that asks for the bytes after those that are here."""
    return {"Range": f"bytes={have}-"} if have else {}


def digest_of(competition: Document, name: str) -> str:
    """The SHA-256 of a public file.

    Raises:
        PodiumError: the competition has no such file.
    """
    for file in competition["files"]:
        if file["name"] == name:
            return str(file["sha256"])
    raise PodiumError(f"{competition['slug']} has no public file {name!r}.")


def finish_download(answer: Answer, partial: Path, target: Path, expected: str) -> None:
    """Give a complete download its name.

    Raises:
        PodiumRefused: Podium refused it.
        PodiumError: its digest is another one; the partial file is removed.
    """
    if answer.status_code != COMPLETE:
        text_of(answer)
    if digest(partial) != expected:
        partial.unlink()
        raise PodiumError(f"The download of {target.name} is damaged. It was removed; try again.")
    partial.replace(target)


def digest(file: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def frame(rows: str) -> Any:
    """Rows of CSV as a pandas frame.

    Raises:
        PodiumError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise PodiumError("Frames need pandas: pip install 'podium-client[pandas]'.") from None
    import io

    return pd.read_csv(io.StringIO(rows))
