"""The connection to an S3-compatible object store: its limits, its errors, and whether it works."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from app.errors import BadSettings, DamagedFile, StoreAway
from app.logs import log_outage

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

log = logging.getLogger("podium.storage")
PROBE = "probe"
NO_BUCKET, NO_FILE = "NoSuchBucket", "NoSuchKey"  # codes of S3 in an answer with status 404
# The library's text about an answer: its status, or that it is an error of status 200; its body.
ANSWER = re.compile(
    r"(?P<status>status code: (?P<number>\d{3})[^:\n]*|Server returned error response):"
)
CODE = re.compile(r"<Code>(\w{1,64})</Code>")
# Amazon's codes, with status 400, for expired credentials and those of another region.
REFUSED = frozenset({"ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed"})
TOO_MANY = frozenset({"429", "503"})  # statuses that ask to come back later
SLOW_SECONDS = 2.0  # without an answer, and then between two callers that may try
# Wait for a slow server, but not for one that sends nothing. `timeout` limits a request with all of
# its bytes, and a large file needs hours on a slow line. Retry only for a few seconds, because an
# agent's request waits meanwhile, and the agent can retry after a 503.
CLIENT: ClientConfig = {
    "connect_timeout": timedelta(seconds=3),
    "read_timeout": timedelta(seconds=10),
    "timeout": timedelta(hours=24),
}
RETRY: RetryConfig = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=1),
        "base": 2,
    },
}


def connect(bucket: str, prefix: str, options: dict[str, str]) -> S3Store:
    """A client for the objects below `prefix`. Nothing is sent yet."""
    is_http = str(options.get("endpoint", "")).startswith("http://")
    return S3Store(
        bucket,
        prefix=prefix or None,
        config=cast("S3Config", options),
        client_options={**CLIENT, "allow_http": is_http},
        retry_config=RETRY,
    )


def require_usable(store: S3Store, name: str) -> None:
    """Write an object and read it again. `name` is the store's URL, for messages.

    Raises:
        BadSettings: the bucket does not exist, or these credentials may not use it.
        StoreAway: the store does not answer.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            _require_bucket(store, name)
        obstore.put(store, PROBE, uuid.uuid4().bytes, use_multipart=False)
        obstore.get(store, PROBE).bytes()
    except (BaseError, FileNotFoundError) as error:
        if _is_refused(error):
            refuses = "refuses these credentials, or does not let them write"
            raise BadSettings(
                f"The store {name} (PODIUM_BLOBS_URL) {refuses}: {_reason(error)}. Podium reads "
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and has to read, write "
                "and delete below that prefix.",
                for_strangers=f"The store of files {refuses}: {_answer(error)}.",
            ) from None
        raise _read_only(store, name, error) or _away(name, error) from error


@contextlib.contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Translate the errors of the store of this name into Podium's."""
    try:
        yield
    except FileNotFoundError as error:
        if NO_FILE not in str(error):  # there is no bucket, or the answer is a page of a proxy
            raise _away(name, error) from error
        raise DamagedFile(f"The store {name} lacks a file: {_reason(error)}.") from error
    except BaseError as error:
        raise _away(name, error) from error


class Patience:
    """Limits how many callers wait for a store that does not answer.

    A thread that waits is not available to requests that need no store. So once a caller has waited
    in vain, one caller may try every `SLOW_SECONDS`, and the others fail at once, until one gets an
    answer.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._is_used_up = False
        self._tried_at = self._answered_at = 0.0

    @contextlib.contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Like the function of this name.

        Raises:
            StoreAway: the store does not answer, or did not answer just now.
        """
        started = time.monotonic()
        with self._lock:
            if self._is_used_up and started - self._tried_at < SLOW_SECONDS:
                raise _no_answer(self._name)
            self._tried_at = started
        try:
            with translated_errors(self._name):
                yield
        except StoreAway:
            # A long transfer may break off although the store answers other requests.
            is_slow = time.monotonic() - started > SLOW_SECONDS
            self._is_used_up = is_slow and self._answered_at < started
            raise
        except DamagedFile:
            self._note_answer()
            raise
        self._note_answer()

    def _note_answer(self) -> None:
        self._answered_at, self._is_used_up = time.monotonic(), False


def _require_bucket(store: S3Store, name: str) -> None:
    try:
        obstore.get(store, PROBE)
    except FileNotFoundError as error:
        if NO_BUCKET in str(error):
            todo = "create it, or correct the URL. Podium does not create buckets."
            raise BadSettings(
                f"There is no bucket for {name} (PODIUM_BLOBS_URL): {todo}",
                for_strangers=f"There is no bucket for the store of files: {todo}",
            ) from None
        raise


def _read_only(store: S3Store, name: str, error: Exception) -> BadSettings | None:
    """The error for a store that can be read but not written.

    None if it cannot be read, asks to retry later or does not answer, or if something in front of
    it answers.
    """
    answer = ANSWER.search(str(error))
    if answer is None or answer["number"] in TOO_MANY:
        return None
    try:
        if not obstore.get(store, PROBE).meta["e_tag"]:
            return None
    except FileNotFoundError as missing:
        if NO_FILE not in str(missing):
            return None
    except BaseError:
        return None
    problem = "can be read but not written"
    return BadSettings(
        f"The store {name} (PODIUM_BLOBS_URL) {problem}: {_reason(error)}. Podium needs permission "
        "to write there.",
        for_strangers=f"The store of files {problem}: {_answer(error)}.",
    )


def _away(name: str, error: Exception) -> StoreAway:
    log_outage(log, "the blob store is away", _reason(error), store=name)
    if _is_refused(error):  # waiting does not help: the operator or user has to know
        code = f": {code}" if (code := _code(error)) else ""
        return _store_away(name, f"refuses Podium's credentials{code}.")
    return _no_answer(name)


def _no_answer(name: str) -> StoreAway:
    return _store_away(name, "does not answer as it should.")


def _store_away(name: str, what: str) -> StoreAway:
    said = f"The store of files {what}"
    return StoreAway(f"The store of files, {name}, {what}", for_strangers=said)


def _is_refused(error: Exception) -> bool:
    is_denied = isinstance(error, PermissionDeniedError | UnauthenticatedError)
    return is_denied or _code(error) in REFUSED


def _reason(error: Exception) -> str:
    """The library's message; for an answer of the store, only its status and code.

    The body contains more, such as the id of the key and the request that was signed. Lines after
    the first are for programmers.
    """
    said = str(error).split("\n", 1)[0]
    if answer := ANSWER.search(said):
        said = f"{said[: answer.end('status')]} {_code(error)}"
    return said.strip().rstrip(".:")


def _answer(error: Exception) -> str:
    """The status and code of the store's answer, without its address, which the library adds."""
    answer = ANSWER.search(str(error))
    said = f"{answer['status']} {_code(error)}" if answer else _code(error)
    return said.strip() or "its answer has no reason"


def _code(error: Exception) -> str:
    """S3's code of the error; empty if the answer has none."""
    said, _, _ = str(error).partition("\n\n")
    found = CODE.search(said)
    return found[1] if found else ""
