"""What is asked of Kaggle's package again, and how its answers are read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from app.errors import Forbidden, NotFound, Unauthorized, Unavailable
from app.importers.kaggle_refusals import CannotBeJoined
from app.importers.kaggle_source import MOST_PAGES, KaggleSource


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def source(told: list[str], **calls: Any) -> KaggleSource:
    """A connection to a Kaggle that answers these calls; the package needs credentials."""
    found = object.__new__(KaggleSource)
    found._report, found._api = told.append, SimpleNamespace(**calls)
    return found


def refused(status: int, **headers: str) -> requests.HTTPError:
    answer = requests.Response()
    answer.status_code = status
    answer.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return requests.HTTPError(f"{status} for url: /pages", response=answer)


def answers(*given: Any) -> Any:
    """A call that raises or returns each of these in turn."""
    left: Iterator[Any] = iter(given)

    def answer(*_: Any, **__: Any) -> Any:
        one = next(left)
        if isinstance(one, Exception):
            raise one
        return one

    return answer


def test_what_fails_for_the_moment_is_asked_again_after_longer_and_longer_pauses(
    told: list[str], slept: list[float]
) -> None:
    page = SimpleNamespace(name="Rules", content=None)
    cut = requests.exceptions.ChunkedEncodingError("cut")
    failures = [refused(503), requests.ConnectionError("away"), requests.Timeout("slow"), cut]
    kaggle = source(told, competition_list_pages=answers(*failures, [page]))

    assert kaggle.pages("bikes") == {"rules": ""}
    assert slept == [2.0, 4.0, 8.0, 16.0]
    assert told == [
        "503 for url: /pages Asking again in 2 s.", "away Asking again in 4 s.",
        "slow Asking again in 8 s.", "cut Asking again in 16 s.",
    ]  # fmt: skip


def test_it_is_given_up_after_seven_attempts(told: list[str], slept: list[float]) -> None:
    kaggle = source(told, competition_list_pages=answers(*[refused(500)] * 7))

    with pytest.raises(Unavailable, match="Gave up after 7 attempts: 500 for url"):
        kaggle.pages("bikes")
    assert slept == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


@pytest.mark.parametrize(
    ("value", "pause"),
    [("7", 7.0), ("0", 0.0), ("1000", 300.0), ("soon", 2.0), ("-5", 2.0), ("", 2.0)],
)
def test_the_pause_that_kaggle_names_is_kept(
    told: list[str], slept: list[float], value: str, pause: float
) -> None:
    kaggle = source(told, competition_list_pages=answers(refused(429, Retry_After=value), None))

    assert kaggle.pages("bikes") == {}
    assert slept == [pause]


@pytest.mark.parametrize(("hours", "pause"), [(1, 300.0), (-1, 0.0)])
def test_the_pause_may_be_a_time(
    told: list[str], slept: list[float], hours: int, pause: float
) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
    kaggle = source(told, competition_list_pages=answers(refused(503, Retry_After=when), None))

    kaggle.pages("bikes")
    assert slept == [pause]


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [(401, Unauthorized, "The credentials were refused: 401 for"), (404, NotFound, "404 for"),
     (403, Forbidden, "403 for"), (400, Forbidden, "400 for"), (499, Forbidden, "499 for")],
)  # fmt: skip
def test_a_refusal_is_not_asked_again(
    told: list[str], slept: list[float], status: int, kind: type[Exception], text: str
) -> None:
    kaggle = source(told, competition_list_pages=answers(refused(status)))

    with pytest.raises(kind, match=text):
        kaggle.pages("bikes")
    assert (slept, told) == ([], [])


def test_pages_are_known_by_their_names(told: list[str]) -> None:
    pages = [SimpleNamespace(name=name, content=text)
             for name, text in (("Data", "<p>x"), ("", "y"), ("RULES", "z"))]  # fmt: skip
    kaggle = source(told, competition_list_pages=answers(pages))
    assert kaggle.pages("bikes") == {"data": "<p>x", "rules": "z"}


class Client:
    """The part of the package's client that competitions are asked of."""

    def __init__(self, **calls: Any) -> None:
        self.competitions = SimpleNamespace(competition_api_client=SimpleNamespace(**calls))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def about(told: list[str], competition: Any, *pages: Any) -> Any:
    client = Client(get_competition=answers(competition))
    files = answers(*pages)
    calls = {"build_kaggle_client": lambda: client, "competition_list_files": files}
    return source(told, **calls).about("bikes")


def page(token: str | None, *sizes: int | None) -> Any:
    return SimpleNamespace(files=[SimpleNamespace(total_bytes=size) for size in sizes],
                           next_page_token=token)  # fmt: skip


EMPTY = SimpleNamespace(title=None, url=None, evaluation_metric=None, category=None, tags=None,
                        user_has_entered=None)  # fmt: skip


def test_the_files_of_all_pages_are_counted(told: list[str]) -> None:
    tags = [SimpleNamespace(name="tabular"), SimpleNamespace(name="")]
    full = SimpleNamespace(title="Bikes", url="https://k", evaluation_metric="RMSE", tags=tags,
                           category="Playground", user_has_entered=True)  # fmt: skip
    found = about(told, full, page("more", 5, None), page(None, 7))

    assert (found.files, found.bytes, found.is_all) == (3, 12, True)
    assert (found.slug, found.title, found.url, found.metric) == (
        "bikes", "Bikes", "https://k", "RMSE",
    )  # fmt: skip
    assert (found.category, found.tags, found.has_entered) == ("Playground", ("tabular",), True)
    bare = about(told, EMPTY, page("", 1))
    assert (bare.title, bare.url, bare.metric, bare.tags) == ("bikes", "", "", ())
    assert (bare.category, bare.has_entered) == ("", False)


def test_of_very_many_files_the_size_is_a_lower_bound(told: list[str]) -> None:
    found = about(told, EMPTY, *[page("more", 1)] * MOST_PAGES)
    assert (found.files, found.is_all) == (MOST_PAGES, False)


def test_the_address_of_an_archive_is_given_without_its_body(told: list[str]) -> None:
    closed: list[bool] = []
    files = SimpleNamespace(url="https://signed", close=lambda: closed.append(True))
    deadline = datetime(2020, 1, 1)  # noqa: DTZ001 (Kaggle's have no zone)
    about = SimpleNamespace(new_entrant_deadline=None, deadline=deadline, user_has_entered=False)
    client = Client(
        download_data_files=answers(files, refused(404), refused(403)),
        get_competition=answers(about),
    )
    kaggle = source(told, build_kaggle_client=lambda: client)

    assert (kaggle.address("bikes"), closed) == ("https://signed", [True])
    with pytest.raises(NotFound, match="Kaggle has no data of bikes, or no longer: 404 for"):
        kaggle.address("bikes")
    with pytest.raises(CannotBeJoined, match="Kaggle says: 403 for"):
        kaggle.address("bikes")


@pytest.mark.parametrize("name", ["bikes.zip", "bikes.tar.gz", "bikes.tar", "other.csv"])
def test_the_downloaded_file_is_found_under_each_name(
    told: list[str], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "downloads" / "bikes"

    def download(slug: str, to: str, *, quiet: bool) -> None:
        assert (slug, quiet) == ("bikes", True)
        for each in ("x.kaggle-partial", name):
            (Path(to) / each).touch()

    kaggle = source(told, competition_download_files=download)
    assert kaggle.download("bikes", folder).name == name
    if name.startswith("bikes"):  # it is there already, and the package leaves it
        assert kaggle.download("bikes", folder).name == name
    nothing = source(told, competition_download_files=lambda *_, **__: None)
    with pytest.raises(NotFound, match="bikes has no files that can be downloaded"):
        nothing.download("bikes", tmp_path / "nothing")


def test_an_earlier_board_does_not_stay(told: list[str], tmp_path: Path) -> None:
    (tmp_path / "bikes.zip").write_bytes(b"old")
    kaggle = source(told, competition_leaderboard_download=lambda *_: None)
    assert not kaggle.leaderboard("bikes", tmp_path).exists()
