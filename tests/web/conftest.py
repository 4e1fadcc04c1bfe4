"""A server with results and one without, and a real Chromium."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.server import NO_CERTIFICATES, PodiumServer
from tests.web.dataset import Filled
from tests.web.prepared_data import start_filled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--disable-dev-shm-usage",
)  # fmt: skip
BROWSER_ACCEPTS = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture(scope="package")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A server with 3 experiments at 12 competitions, 3 seeds each."""
    filled = start_filled(tmp_path_factory)
    yield filled
    assert filled.server.stop() == 0


@pytest.fixture(scope="package")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """A server without competitions, experiments and suites."""
    server = PodiumServer(tmp_path_factory.mktemp("empty-pages") / "data").start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium. A machine without it fails here: nothing else shows that pages work.

    It ends with its module: until then Playwright's event loop counts as running in this thread,
    and other tests of this process could not run one of their own.
    """
    from playwright.sync_api import sync_playwright

    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: apt-get install chromium", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """A folder for screenshots and prints, which stays after the tests. Git does not look at it."""
    folder = Path(__file__).parents[2] / ".artefacts"
    folder.mkdir(exist_ok=True)
    return folder


_opened = contextlib.ExitStack()


@pytest.fixture(autouse=True)
def close_clients() -> Iterator[None]:
    """Close the clients that a test opened with `visitor` and `caller`."""
    yield
    _opened.close()


def caller(server: PodiumServer) -> httpx.Client:
    """A program with an admin's key."""
    return _opened.enter_context(server.client())


def visitor(server: PodiumServer, key: str = "") -> httpx.Client:
    """A client that asks as a browser does; with a key, it has logged in with it."""
    client = _opened.enter_context(
        httpx.Client(
            base_url=server.url, headers={"Accept": BROWSER_ACCEPTS}, timeout=60,
            trust_env=False, verify=NO_CERTIFICATES,
        )
    )  # fmt: skip
    if key:
        answer = client.post("/login", data={"key": key})
        assert answer.status_code == 303, answer.text
    return client
