"""What is asked of Kaggle again, and how its answers are read, with Kaggle's package."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.errors import Forbidden, NotFound, Unauthorized, Unavailable
from app.importers import kaggle_source
from app.importers.kaggle_refusals import CannotBeJoined
from app.importers.kaggle_source import MOST_PAGES, KaggleSource

AWAY, CUT, SILENT = "away", "cut", "silent"  # no answer, one that is cut off, one that never comes
Answer = str | tuple[int, Any, dict[str, str]]


class Kaggle(ThreadingHTTPServer):
    """A server that gives these answers in turn: Kaggle's package takes it for Kaggle."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.is_over = threading.Event()

    def source(self, told: list[str], *answers: Answer) -> KaggleSource:
        self.answers = list(answers)
        return KaggleSource(told.append)


class Handler(BaseHTTPRequestHandler):
    server: Kaggle

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        call = self.path.partition("?")[0].rpartition("/")[2]
        self.server.asked.append((call, json.loads(body or b"{}")))
        self.answer(self.server.answers.pop(0))

    def do_GET(self) -> None:
        self.answer(self.server.answers.pop(0))

    def answer(self, one: Answer) -> None:
        if one == SILENT:
            self.server.is_over.wait(60)
        if one in (AWAY, SILENT):
            return
        status, document, headers = one if isinstance(one, tuple) else (200, {}, {})
        is_file = isinstance(document, bytes)
        content = document if is_file else json.dumps(document).encode()
        kind = "application/zip" if is_file else "application/json"
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) + (10 if one == CUT else 0)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def kaggle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Kaggle]:
    import requests

    server = Kaggle()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    for name in ("NO_PROXY", "no_proxy", "KAGGLE_API_TOKEN", "KAGGLE_API_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    proxy = f"http://127.0.0.1:{server.server_address[1]}"
    for name, value in {
        "HTTP_PROXY": proxy, "http_proxy": proxy, "KAGGLE_API_ENVIRONMENT": "LOCALHOST",
        "KAGGLE_USERNAME": "admin", "KAGGLE_KEY": "secret", "KAGGLE_CONFIG_DIR": str(tmp_path),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(requests.Session, "send", requests.Session.send)  # a source replaces it
    yield server
    server.is_over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of this thread, which takes none; other threads sleep as ever."""
    found: list[float] = []
    this, kinds = threading.current_thread(), {True: found.append, False: time.sleep}
    monkeypatch.setattr(time, "sleep", lambda s: kinds[threading.current_thread() is this](s))
    return found


def good(document: Any, **headers: str) -> Answer:
    return 200, document, headers


def refused(status: int, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"code": status, "message": f"no {status}"}, named


PAGES = good({"pages": []})


def test_what_fails_for_the_moment_is_asked_again_after_longer_and_longer_pauses(
    kaggle: Kaggle, told: list[str], slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kaggle_source, "SILENT_SECONDS", 0.5)
    rules = good({"pages": [{"name": "Rules"}]})
    source = kaggle.source(told, refused(503), AWAY, SILENT, CUT, rules)

    assert source.pages("bikes") == {"rules": ""}
    assert slept == [2.0, 4.0, 8.0, 16.0]
    reasons = ("no 503", "ProxyError", "Read timed out", "IncompleteRead")
    for line, said, pause in zip(told, reasons, (2, 4, 8, 16), strict=True):
        assert said in line
        assert line.endswith(f" Asking again in {pause} s.")


def test_it_is_given_up_after_seven_attempts(
    kaggle: Kaggle, told: list[str], slept: list[float]
) -> None:
    source = kaggle.source(told, *[refused(500)] * 7)

    with pytest.raises(Unavailable, match="Gave up after 7 attempts: no 500"):
        source.pages("bikes")
    assert slept == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


@pytest.mark.parametrize(
    ("value", "pause"),
    [("7", 7.0), ("0", 0.0), ("1000", 300.0), ("soon", 2.0), ("-5", 2.0), ("", 2.0)],
)
def test_the_pause_that_kaggle_names_is_kept(
    kaggle: Kaggle, told: list[str], slept: list[float], value: str, pause: float
) -> None:
    source = kaggle.source(told, refused(429, Retry_After=value), PAGES)

    assert source.pages("bikes") == {}
    assert slept == [pause]


@pytest.mark.parametrize(("hours", "pause"), [(1, 300.0), (-1, 0.0)])
def test_the_pause_may_be_a_time(
    kaggle: Kaggle, told: list[str], slept: list[float], hours: int, pause: float
) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
    kaggle.source(told, refused(503, Retry_After=when), PAGES).pages("bikes")

    assert slept == [pause]


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [(401, Unauthorized, "The credentials were refused: no 401"), (404, NotFound, "no 404"),
     (403, Forbidden, "no 403"), (400, Forbidden, "no 400"), (499, Forbidden, "no 499")],
)  # fmt: skip
def test_a_refusal_is_not_asked_again(
    kaggle: Kaggle, told: list[str], slept: list[float], status: int, kind: type[Exception],
    text: str,
) -> None:  # fmt: skip
    with pytest.raises(kind, match=text):
        kaggle.source(told, refused(status)).pages("bikes")
    assert (slept, told) == ([], [])


def test_pages_are_known_by_their_names(kaggle: Kaggle, told: list[str]) -> None:
    pages = [("Data", "<p>x"), ("", "y"), ("RULES", "z")]
    answer = good({"pages": [{"name": name, "content": text} for name, text in pages]})
    assert kaggle.source(told, answer).pages("bikes") == {"data": "<p>x", "rules": "z"}


def page(token: str, *sizes: int) -> Answer:
    files = [{"name": f"{number}.csv", "totalBytes": size} for number, size in enumerate(sizes)]
    return good({"files": files, "nextPageToken": token})


def test_the_files_of_all_pages_are_counted(kaggle: Kaggle, told: list[str]) -> None:
    full = {"title": "Bikes", "url": "https://k", "evaluationMetric": "RMSE",
            "category": "Playground", "tags": [{"name": "tabular"}, {"name": ""}],
            "userHasEntered": True}  # fmt: skip
    found = kaggle.source(told, good(full), page("more", 5, 0), page("", 7)).about("bikes")

    assert (found.files, found.bytes, found.is_all) == (3, 12, True)
    assert (found.slug, found.title, found.url, found.metric) == (
        "bikes", "Bikes", "https://k", "RMSE",
    )  # fmt: skip
    assert (found.category, found.tags, found.has_entered) == ("Playground", ("tabular",), True)
    assert [asked.get("pageToken", "") for _, asked in kaggle.asked[1:]] == ["", "more"]
    bare = kaggle.source(told, good({}), page("", 1)).about("bikes")
    assert (bare.title, bare.url, bare.metric, bare.tags) == ("bikes", "", "", ())
    assert (bare.category, bare.has_entered) == ("", False)


def test_of_very_many_files_the_size_is_a_lower_bound(kaggle: Kaggle, told: list[str]) -> None:
    found = kaggle.source(told, good({}), *[page("more", 1)] * MOST_PAGES).about("bikes")
    assert (found.files, found.is_all) == (MOST_PAGES, False)


def test_the_address_of_an_archive_is_given_or_why_not(kaggle: Kaggle, told: list[str]) -> None:
    where = "http://localhost/files/bikes.zip?signature=1"
    source = kaggle.source(told, (302, {}, {"Location": where}), good(b"its body"))
    assert source.address("bikes") == where
    kaggle.answers = [refused(404)]
    with pytest.raises(NotFound, match="Kaggle has no data of bikes, or no longer: no 404"):
        source.address("bikes")
    kaggle.answers = [refused(403), good({"deadline": "2020-01-01T00:00:00Z"})]
    with pytest.raises(CannotBeJoined, match="Kaggle says: no 403"):
        source.address("bikes")


@pytest.mark.parametrize(
    ("sent", "name"),
    [("bikes.zip", "bikes.zip"), ("bikes.tar", "bikes.tar"), ("bikes.tar.gz", "bikes.gz"),
     ("other.csv", "bikes.csv")],
)  # fmt: skip
def test_the_downloaded_file_is_found_under_the_name_that_the_package_gives_it(
    kaggle: Kaggle, told: list[str], tmp_path: Path, sent: str, name: str
) -> None:
    folder = tmp_path / "downloads" / "bikes"
    there = 302, {}, {"Location": f"http://localhost/files/{sent}?signature=1"}
    source = kaggle.source(told, there, good(b"its bytes"))

    found = source.download("bikes", folder)
    assert (found.name, found.read_bytes()) == (name, b"its bytes")
    if name in ("bikes.zip", "bikes.tar"):  # it is there already, and the package leaves it
        kaggle.answers = [there, good(b"its bytes")]
        assert source.download("bikes", folder) == found


def test_an_earlier_board_does_not_stay(kaggle: Kaggle, told: list[str], tmp_path: Path) -> None:
    (tmp_path / "bikes.zip").write_bytes(b"of yesterday")
    source = kaggle.source(told, good(b"of today"))
    assert source.leaderboard("bikes", tmp_path).read_bytes() == b"of today"
