"""Read competitions from Kaggle, or from another Podium, with the `kaggle` package."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

from app.errors import Forbidden, NotFound, Unauthorized, Unavailable
from app.importers.kaggle_refusals import why_refused

Report = Callable[[str], None]
Result = TypeVar("Result")
ATTEMPTS = 7
LONGEST_PAUSE = 300.0
PAGE = 200
CONNECT_SECONDS = 30.0
SILENT_SECONDS = 120.0  # without a byte, after which a request is repeated
MOST_PAGES = 25  # after these pages of the file list, the size is a lower bound


@dataclass(frozen=True, slots=True)
class KaggleCompetition:
    """A competition's metadata, known before its files are downloaded."""

    slug: str
    title: str
    url: str
    metric: str
    category: str
    tags: tuple[str, ...]
    has_entered: bool
    files: int
    bytes: int
    is_all: bool  # whether all files were counted


class KaggleSource:
    """A connection. `report` is called with a message before each pause."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._api = _authenticated()

    def about(self, slug: str) -> KaggleCompetition:
        """The competition's metadata.

        Raises:
            NotFound: there is none.
        """
        found = self._competition(slug)
        files, size, token, pages = 0, 0, "", 0
        while pages < MOST_PAGES:
            page = self._call(lambda: self._api.competition_list_files(slug, token, PAGE))  # noqa: B023
            files += len(page.files)
            size += sum(file.total_bytes or 0 for file in page.files)
            token, pages = page.next_page_token or "", pages + 1
            if not token:
                break
        return KaggleCompetition(
            slug=slug,
            title=found.title or slug,
            url=found.url or "",
            metric=found.evaluation_metric or "",
            category=found.category or "",
            tags=tuple(tag.name for tag in found.tags or () if tag.name),
            has_entered=bool(found.user_has_entered),
            files=files,
            bytes=size,
            is_all=not token,
        )

    def _competition(self, slug: str) -> Any:
        from kagglesdk.competitions.types.competition_api_service import ApiGetCompetitionRequest

        request = ApiGetCompetitionRequest()
        request.competition_name = slug

        def ask() -> Any:
            with self._api.build_kaggle_client() as client:
                return client.competitions.competition_api_client.get_competition(request)

        return self._call(ask)

    def pages(self, slug: str) -> dict[str, str]:
        """The competition's pages by lower-case name; HTML or Markdown, unchanged."""
        found = self._call(lambda: self._api.competition_list_pages(slug))
        return {page.name.lower(): page.content or "" for page in found or () if page.name}

    def address(self, slug: str) -> str:
        """The signed address of the archive of all files. It is a secret, and it expires.

        Raises:
            RulesNotAccepted, CannotBeJoined: the account may not have the files.
            NotFound: there is no such competition, or no longer.
        """
        from kagglesdk.competitions.types.competition_api_service import (
            ApiDownloadDataFilesRequest,
        )

        request = ApiDownloadDataFilesRequest()
        request.competition_name = slug

        def ask() -> str:
            with self._api.build_kaggle_client() as client:
                files = client.competitions.competition_api_client.download_data_files(request)
                files.close()  # its body is read by ranges
                return str(files.url)

        try:
            return self._call(ask)
        except NotFound as error:
            raise NotFound(f"Kaggle has no data of {slug}, or no longer: {error.detail}") from None
        except Forbidden as error:
            raise why_refused(slug, self._competition(slug), error) from None

    def download(self, slug: str, folder: Path) -> Path:
        """Download all files as one archive; continues an interrupted download in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        before = set(folder.iterdir())
        self._call(lambda: self._api.competition_download_files(slug, str(folder), quiet=True))
        known = [folder / f"{slug}.{end}" for end in ("zip", "tar.gz", "tar")]
        new = sorted(set(folder.iterdir()) - before)
        for path in (*known, *new):
            if path.is_file() and not path.name.endswith(".kaggle-partial"):
                return path
        raise NotFound(f"{slug} has no files that can be downloaded.")

    def leaderboard(self, slug: str, folder: Path) -> Path:
        """Download the leaderboard as a zip."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{slug}.zip"
        path.unlink(missing_ok=True)
        self._call(lambda: self._api.competition_leaderboard_download(slug, str(folder)))
        return path

    def _call(self, ask: Callable[[], Result]) -> Result:
        """Call the package, with retries after pauses, because the package does not retry."""
        import requests

        # The last one is an answer that was cut off, which is not a ConnectionError.
        away = requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with _quiet():
                    return ask()
            except requests.HTTPError as error:
                status = error.response.status_code if error.response is not None else 0
                if status != 429 and status < 500:
                    raise _error_of(status, str(error)) from None
                reason, pause = str(error), _retry_after(error.response)
            except away as error:
                reason, pause = str(error), None
            if attempt < ATTEMPTS:
                seconds = min(LONGEST_PAUSE, 2.0**attempt if pause is None else pause)
                self._report(f"{reason[:200]} Asking again in {seconds:g} s.")
                time.sleep(seconds)
        raise Unavailable(f"Gave up after {ATTEMPTS} attempts: {reason[:500]}")


def reach_podium(url: str, key: str) -> None:
    """Make the package use another Podium instead of Kaggle; before the first `KaggleSource`.

    The package has no setting for an address, only for localhost and an HTTP proxy. This process
    must not have used the package before.
    """
    for name in ("NO_PROXY", "no_proxy", "KAGGLE_USERNAME", "KAGGLE_KEY"):
        os.environ.pop(name, None)
    os.environ.update(
        {"KAGGLE_API_ENVIRONMENT": "LOCALHOST", "HTTP_PROXY": url, "http_proxy": url,
         "KAGGLE_API_TOKEN": key}
    )  # fmt: skip


def is_podium() -> bool:
    """Whether the package uses another Podium (`reach_podium`)."""
    return os.environ.get("KAGGLE_API_ENVIRONMENT") == "LOCALHOST"


def _authenticated() -> Any:
    _limit_waiting()
    # The package reads credentials when it is imported; without any it prints a page of advice.
    with _quiet():
        from kaggle.api.kaggle_api_extended import KaggleApi

        api = KaggleApi()
        api.args = [arg for arg in api.args if arg != "--verbose"]  # it would print the key
        try:
            api.authenticate()
        except (SystemExit, Exception) as error:
            raise Unauthorized(
                "Kaggle's package has no usable credentials. Make a token on kaggle.com under "
                "Settings, API, and set KAGGLE_API_TOKEN, or KAGGLE_USERNAME and KAGGLE_KEY. With "
                "--from: that Podium does not know the key in --key-file, or cannot be reached. "
                + (str(error)[:200] if not isinstance(error, SystemExit) else "")
            ) from None
    return api


def _limit_waiting() -> None:
    """Give every request of the package a time limit; without one it would wait for ever."""
    import requests

    send = requests.Session.send

    def limited(self: Any, request: Any, **options: Any) -> Any:
        options["timeout"] = options.get("timeout") or (CONNECT_SECONDS, SILENT_SECONDS)
        return send(self, request, **options)

    requests.Session.send = limited  # type: ignore[method-assign]


@contextlib.contextmanager
def _quiet() -> Any:
    """Keep the package's output away from standard output, which may be JSON of a command."""
    arguments = sys.argv
    sys.argv = arguments[:1]  # else the package would parse its options from it
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        sys.argv = arguments


def _error_of(status: int, message: str) -> Exception:
    if status == 401:
        return Unauthorized(f"The credentials were refused: {message[:500]}")
    if status == 404:
        return NotFound(message[:500])
    return Forbidden(message[:500])


def _retry_after(response: Any) -> float | None:
    value = response.headers.get("Retry-After") or ""
    if value.isdecimal():
        return float(value)
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None
