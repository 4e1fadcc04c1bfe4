"""Ranges of bytes of a file over HTTP, with retries after errors."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime

import httpx

from app.downloads.errors import DownloadChanged, DownloadGone, NoRanges
from app.downloads.partial_file import Identity
from app.errors import Forbidden, PodiumError, Unavailable

ATTEMPTS = 7  # without a byte in between
LONGEST_PAUSE = 900.0  # seconds, even if the server asks for a longer one
LONGEST_NUMBER = 18  # digits: a longer one is beyond every file
CONNECT_SECONDS, SILENT_SECONDS = 30.0, 120.0
CHUNK_BYTES = 1 << 20
RENEWALS = 2  # consecutive refusals of an address without a byte in between
REFUSED = (400, 401, 403)  # the answers of stores to a signed address that has expired


class _TryAgain(Exception):
    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class HttpRanges:
    """A file at an address that expires: `address` gives a new one.

    `report` is called with a line before each pause. `identity` is known after `identify`. All
    later answers must be from that file.
    """

    def __init__(self, address: Callable[[], str], report: Callable[[str], None]) -> None:
        self._address, self._report = address, report
        self._url = ""
        self._client = httpx.Client(
            timeout=httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS), follow_redirects=True,
            headers={"Accept-Encoding": "identity"},
        )  # fmt: skip
        self.identity: Identity | None = None
        self.bytes_read, self.seconds = 0, 0.0

    def identify(self) -> Identity:
        """Ask for the length and the validator, with the first byte.

        Raises:
            DownloadGone, NoRanges, Forbidden, Unavailable: as `stream`.
        """
        self.identity = None
        for _ in self.stream(0, 1):
            pass
        assert self.identity is not None  # noqa: S101 (a byte came)
        return self.identity

    def stream(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes from `start` to before `end`, in pieces, each once and in order.

        Raises:
            DownloadChanged: the server has another file now.
            DownloadGone: it has none.
            NoRanges: it does not send parts.
            Forbidden: a new address is refused too.
            Unavailable: several attempts in a row gave nothing.
        """
        failures = renewals = 0
        while start < end:
            if not self._url:
                self._url = self._address()
            began = time.monotonic()
            try:
                for piece in self._once(start, end):
                    failures = renewals = 0
                    start += len(piece)
                    self.bytes_read += len(piece)
                    self.seconds += time.monotonic() - began
                    yield piece
                    began = time.monotonic()
            except (_TryAgain, httpx.RequestError) as error:
                failures += 1
                pause = error.pause if isinstance(error, _TryAgain) else None
                self._wait(failures, str(error) or type(error).__name__, pause)
            except Forbidden:
                renewals += 1
                if renewals > RENEWALS:
                    raise
                self._url = ""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _once(self, start: int, end: int) -> Iterator[bytes]:
        known = self.identity
        headers = {"Range": f"bytes={start}-{end - 1}"}
        if known is not None and known.validator:
            headers["If-Range"] = known.validator
        with self._client.stream("GET", self._url, headers=headers) as response:
            _require_range(response, start, known)
            if known is None:
                self.identity = _identity(response)
            left = end - start
            for piece in response.iter_raw(CHUNK_BYTES):
                yield piece[:left]
                left -= len(piece)
                if left < 0:
                    break  # the server sends more than it was asked for
        if left > 0:
            raise _TryAgain("the server ended its answer too early")

    def _wait(self, failures: int, reason: str, pause: float | None) -> None:
        if failures >= ATTEMPTS:
            raise Unavailable(f"Gave up after {ATTEMPTS} attempts: {reason[:300]}")
        seconds = min(LONGEST_PAUSE, 2.0 ** (failures - 1) if pause is None else pause)
        self._report(f"{reason[:200]}. Going on in {seconds:g} s.")
        time.sleep(seconds)


def retry_after(value: str) -> float | None:
    """The seconds that a header Retry-After names, as a number or as a date."""
    if value.isdecimal():
        return float(value)
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None


def _require_range(response: httpx.Response, start: int, known: Identity | None) -> None:
    status = response.status_code
    if status == httpx.codes.PARTIAL_CONTENT:
        if known is not None and _identity(response) != known:
            raise DownloadChanged
        if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise NoRanges("The server sent another part of the file than it was asked for.")
        return
    raise _error(response, status, known)


def _error(response: httpx.Response, status: int, known: Identity | None) -> Exception:
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        pause = retry_after(response.headers.get("Retry-After", ""))
        return _TryAgain(f"the server answers {status} {response.reason_phrase}", pause)
    if status in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
        return DownloadGone("The file is no longer there for download.")
    if status in REFUSED:
        return Forbidden(f"The address of the file is refused ({status}), a new one too.")
    if status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
        return DownloadGone("The file is empty.") if known is None else DownloadChanged()
    if status == httpx.codes.OK and known is not None and known.validator != _validator(response):
        return DownloadChanged()
    if status == httpx.codes.OK:
        return NoRanges("The server sends the whole file only, so parts cannot be downloaded.")
    error: PodiumError = Unavailable(f"The server answers {status} {response.reason_phrase}.")
    return error


def _identity(response: httpx.Response) -> Identity:
    total = response.headers.get("Content-Range", "").rpartition("/")[2]
    if not total.isdecimal() or len(total) > LONGEST_NUMBER:
        raise NoRanges("The server does not say how long the file is.")
    return Identity(int(total), _validator(response))


def _validator(response: httpx.Response) -> str:
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):
        return str(etag)
    return str(response.headers.get("Last-Modified", ""))
