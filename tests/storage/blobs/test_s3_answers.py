"""What is in front of an S3 store answers instead of it, or changes what it sends."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import BadSettings, DamagedFile, StoreAway
from app.storage.blobs.cache import FileCache
from app.storage.blobs.s3 import S3Blobs
from app.storage.blobs.store import Blob
from app.storage.blobs.unreferenced import OldFile

PAGE = b"<html>Down for maintenance</html>"
NO_FILE = b"<Error><Code>NoSuchKey</Code></Error>"
RIGHT = hashlib.md5(b"right", usedforsecurity=False).hexdigest()
OF_PAGE = hashlib.md5(PAGE, usedforsecurity=False).hexdigest()


class Gate(http.server.ThreadingHTTPServer):
    """Answers every request alike."""

    status, body, e_tag = 200, PAGE, ""
    status_of_puts = 0  # if another
    lacks = "nothing"  # a part of the paths of objects that are not there
    answers_puts = True
    deletions = 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        gate = self.server
        assert isinstance(gate, Gate)
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        gate.deletions += self.command in ("DELETE", "POST")
        status = gate.status_of_puts if self.command == "PUT" else 0
        if self.command == "PUT" and not gate.answers_puts:
            self.close_connection = True
            return
        if self.command in ("GET", "HEAD") and gate.lacks in self.path:
            status = 404
        self.send_response(status or gate.status)
        self.send_header("Content-Length", str(len(gate.body)))
        self.send_header("Last-Modified", "Thu, 26 Nov 2026 12:00:00 GMT")
        if gate.e_tag:
            self.send_header("ETag", f'"{gate.e_tag}"')
        self.end_headers()
        self.wfile.write(gate.body)

    do_PUT = do_HEAD = do_POST = do_DELETE = do_GET  # noqa: N815 (the names that the server looks for)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def open_gate(port: int = 0) -> Iterator[Gate]:
    with Gate(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def gate() -> Iterator[Gate]:
    with open_gate() as server:
        yield server


@pytest.fixture
def store(gate: Gate, tmp_path: Path) -> S3Blobs:
    options = {
        "endpoint": f"http://127.0.0.1:{gate.server_address[1]}", "region": "us-east-1",
        "access_key_id": "key", "secret_access_key": "secret",
    }  # fmt: skip
    cache = FileCache(tmp_path / "cache", 1 << 20)
    return S3Blobs("bucket", "podium", options, spool=tmp_path / "spool", cache=cache)


@pytest.mark.parametrize(
    ("status", "body", "e_tag", "failure"),
    [
        (404, PAGE, "", StoreAway),
        (404, NO_FILE, "", DamagedFile),
        (200, PAGE, "", StoreAway),  # no S3 store answers without an ETag
        (200, PAGE, RIGHT, StoreAway),  # the store has the right bytes
        (200, PAGE, OF_PAGE, DamagedFile),
        (200, PAGE, f"{RIGHT}-2", DamagedFile),  # of a file in parts it says nothing
    ],
)
def test_only_what_the_store_itself_says_is_damage(
    gate: Gate, store: S3Blobs, tmp_path: Path, status: int, body: bytes, e_tag: str,
    failure: type[Exception],
) -> None:  # fmt: skip
    """Else a minute of it would make submissions `failed`: three attempts take no second."""
    gate.status, gate.body, gate.e_tag = status, body, e_tag

    with pytest.raises(failure):
        store.fetch(hashlib.sha256(b"right").hexdigest(), tmp_path / "file")


def test_a_page_in_answer_to_a_file_that_is_sent_is_a_store_that_is_away(
    gate: Gate, store: S3Blobs
) -> None:
    for gate.status in (200, 404):
        with pytest.raises(StoreAway):
            store.put(b"right")


@pytest.mark.parametrize(("body", "failure"), [(PAGE, StoreAway), (NO_FILE, DamagedFile)])
def test_an_uploaded_file_is_lost_only_if_the_store_itself_says_so(
    gate: Gate, store: S3Blobs, body: bytes, failure: type[Exception]
) -> None:
    """Else an agent that submits by Kaggle's client meanwhile has 500, and the log a lost file."""
    gate.status, gate.body = 404, body

    with pytest.raises(failure):
        store.promote("a" * 32, Blob(hashlib.sha256(b"right").hexdigest(), 5))


def test_of_an_error_with_status_200_the_log_has_the_code_alone(
    gate: Gate, store: S3Blobs, caplog: pytest.LogCaptureFixture
) -> None:
    """S3 answers so where a copy fails after it has begun."""
    gate.body = b"<Error><Code>SlowDown</Code><AWSAccessKeyId>AKIA1</AWSAccessKeyId></Error>"

    with pytest.raises(StoreAway):
        store.promote("a" * 32, Blob(hashlib.sha256(b"right").hexdigest(), 5))

    (why,) = {record.why for record in caplog.records}  # type: ignore[attr-defined]
    assert "SlowDown" in why
    assert "AKIA1" not in why


@pytest.mark.parametrize(
    ("status", "code", "lines"),
    [(403, "SignatureDoesNotMatch", ""), (403, "RequestTimeTooSkewed", "\n"),
     (400, "ExpiredToken", "\n"), (400, "AuthorizationHeaderMalformed", "")],
)  # fmt: skip
def test_why_credentials_are_refused_is_told_by_the_code_alone(
    gate: Gate, store: S3Blobs, caplog: pytest.LogCaptureFixture, status: int, code: str, lines: str
) -> None:
    """Strangers read this in /readyz. Amazon's code stood behind a line end, and was cut off."""
    gate.status, gate.body = status, (
        f'<?xml version="1.0" encoding="UTF-8"?>{lines}<Error><Code>{code}</Code>'
        "<AWSAccessKeyId>AKIA1</AWSAccessKeyId><CanonicalRequest>PUT x</CanonicalRequest></Error>"
    ).encode()  # fmt: skip

    with pytest.raises(BadSettings) as refusal:
        store.check()
    with pytest.raises(StoreAway) as away:
        store.put(b"right")

    assert "refuses Podium's credentials" in away.value.detail
    assert "refuses these credentials" in refusal.value.detail
    assert f"status code: {status} " in refusal.value.detail
    logged = [record.why for record in caplog.records]  # type: ignore[attr-defined]
    for said in (refusal.value.detail, away.value.detail, *logged):
        assert code in said
        assert "AKIA1" not in said
        assert "CanonicalRequest" not in said


@pytest.mark.parametrize("status", [429, 503])
def test_a_store_that_asks_to_come_back_later_is_not_read_only(
    gate: Gate, store: S3Blobs, status: int
) -> None:
    """An admin was told that Podium needs permission to write."""
    gate.status_of_puts = status

    with pytest.raises(StoreAway):
        store.check()


@pytest.mark.parametrize("status", [200, 404, 500])
def test_a_page_of_what_is_in_front_of_a_store_is_not_read_only(
    gate: Gate, store: S3Blobs, status: int
) -> None:
    gate.status_of_puts, gate.status = status, 200 if status == 500 else status

    with pytest.raises(StoreAway):
        store.check()


def test_a_store_whose_answer_to_a_write_was_lost_is_not_read_only(
    gate: Gate, store: S3Blobs
) -> None:
    gate.e_tag, gate.answers_puts = RIGHT, False

    with pytest.raises(StoreAway):
        store.check()


def test_a_page_is_not_taken_for_a_text_of_the_store(gate: Gate, store: S3Blobs) -> None:
    """`podium gc` said that the files belong to another database, and what to remove."""
    with pytest.raises(StoreAway):
        store.keep_first("database", "this one")


def test_nothing_is_deleted_whose_copy_is_not_there(gate: Gate, store: S3Blobs) -> None:
    """A page of what is in front of the store was taken for the copy: then the file was gone."""
    digest = hashlib.sha256(b"right").hexdigest()
    old, later = store.old_files(), time.time() + 3600
    gate.e_tag, gate.lacks = RIGHT, "/removed/"

    with pytest.raises(StoreAway):
        old.remove(OldFile(digest, False, "", 5), later)

    assert gate.deletions == 0


def test_what_is_put_back_stays_aside_until_it_is_there(gate: Gate, store: S3Blobs) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    key, old = f"{digest[:2]}/{digest[2:]}", store.old_files()
    gate.e_tag, gate.lacks = RIGHT, f"podium/{key}"
    gate.body = (
        "<ListBucketResult><Name>bucket</Name><KeyCount>1</KeyCount><IsTruncated>false"
        f"</IsTruncated><Contents><Key>podium/removed/{key}</Key><Size>5</Size>"
        "<LastModified>2026-11-26T12:00:00.000Z</LastModified></Contents></ListBucketResult>"
    ).encode()

    with pytest.raises(StoreAway):
        old.settle([digest], time.time() + 3600)

    assert gate.deletions == 0


def test_an_upload_whose_copy_is_not_there_is_not_lost(gate: Gate, store: S3Blobs) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    gate.e_tag, gate.lacks = RIGHT, f"/{digest[2:]}"

    with pytest.raises(StoreAway):
        store.promote("a" * 32, Blob(digest, 5))

    assert gate.deletions == 0
