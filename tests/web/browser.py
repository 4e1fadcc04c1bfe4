"""A reader of pages in Chromium, who fails on errors and on requests to other hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.server import PodiumServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@contextlib.contextmanager
def reader(browser: Browser, server: PodiumServer, **options: object) -> Iterator[Page]:
    """A page of a fresh browser that fails on console errors and requests to other hosts."""
    context = browser.new_context(
        base_url=server.url, **{"viewport": {"width": 1400, "height": 900}, **options}
    )
    errors: list[str] = []
    page = context.new_page()
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    host = urlsplit(server.url).netloc

    def check(request: object) -> None:
        asked = urlsplit(request.url)  # type: ignore[attr-defined]
        if asked.scheme not in ("data", "about") and asked.netloc != host:
            errors.append(f"a request left the server: {request.url}")  # type: ignore[attr-defined]

    page.on("request", check)
    yield page
    # Chromium reports the status of a page that is an error; the tests ask for those on purpose.
    assert [e for e in errors if "Failed to load resource" not in e] == []
    context.close()


def log_in(page: Page, key: str) -> None:
    page.goto("/login")
    page.get_by_label("Key of a researcher or an admin").fill(key)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")


def log_in_without_form(page: Page, key: str) -> None:
    """Send what the form of the login sends, for tests of other pages. No page is drawn."""
    answer = page.request.post("/login", form={"key": key}, max_redirects=0)
    assert answer.status == 303, answer.text()


def click_and_load(page: Page, what: Locator) -> None:
    """Click a link or a button, and wait until all of the page that it leads to is there."""
    # A click only waits for the first bytes: what is read right after it may be half a page.
    with page.expect_event("load"):
        what.click()
