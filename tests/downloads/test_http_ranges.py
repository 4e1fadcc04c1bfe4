"""Answers of servers other than the requested bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from app.downloads.errors import DownloadGone, NoRanges
from app.downloads.http_ranges import HttpRanges, retry_after
from app.errors import Unavailable

FILE = bytes(range(250)) * 20


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        start, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        if self.path == "/circle":
            self.answer(302, b"", Location="/circle")
        elif self.path.startswith("/long"):
            self.answer(206, b"", Content_Range=f"bytes 0-0/{self.path.removeprefix('/long')}")
        elif self.path == "/empty":
            self.answer(416, b"", Content_Range="bytes */0")
        else:  # more than it was asked for
            content = FILE[int(start) : int(last) + 1] + bytes(3 << 20)
            told = f"bytes {start}-{int(start) + len(content) - 1}/{len(FILE)}"
            self.answer(206, content, Content_Range=told, ETag='"one"')

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content_Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def ranges(address: str, said: list[str]) -> HttpRanges:
    return HttpRanges(lambda: address, said.append)


def test_more_bytes_than_were_asked_for_are_left_out(address: str) -> None:
    said: list[str] = []
    file = ranges(f"{address}/more", said)
    file.identify()

    found = [b"".join(file.stream(start, start + 7)) for start in (0, 100, len(FILE) - 7)]
    file.close()

    assert found == [FILE[:7], FILE[100:107], FILE[-7:]]
    assert said == []


def test_an_empty_file_is_told(address: str) -> None:
    file = ranges(f"{address}/empty", [])
    with pytest.raises(DownloadGone, match="is empty"):
        file.identify()
    file.close()


def test_redirections_in_a_circle_are_given_up(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.downloads.http_ranges.time.sleep", lambda seconds: None)
    said: list[str] = []
    file = ranges(f"{address}/circle", said)
    with pytest.raises(Unavailable, match="redirects"):
        file.identify()
    file.close()
    assert len(said) == 6


@pytest.mark.parametrize("length", ["9" * 19, "9" * 5000, "²", "-1", "*"])
def test_a_length_that_no_file_has_is_none(address: str, length: str) -> None:
    file = ranges(f"{address}/long{length}", [])
    with pytest.raises(NoRanges, match="does not say how long"):
        file.identify()
    file.close()


@pytest.mark.parametrize("value", ["²", "-3", "soon", "Mon, 01 Jan 2024 00:00:00 +9999999999999"])
def test_a_time_to_wait_that_is_none_is_passed_over(value: str) -> None:
    assert retry_after(value) is None
