"""Every link of every page, as nobody, as a researcher and as an admin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
from justhtml import JustHTML

from tests.server import PodiumServer
from tests.web.conftest import visitor
from tests.web.dataset import EVIL_LINE, Filled
from tests.web.markup import mistakes_of
from tests.web.test_browser import imported

PICTURE = re.compile(r"\.(svg|png|pdf|vl\.json)$")
TAG = re.compile(r"<[a-z][^>]*>")
OWN = re.compile(r"\s(?:style|on[a-z]+)=")  # styles and events, which no tag of a page has
ID = re.compile(r"(run|sub|key|rcp|rgr|imp)_[0-9a-f]+")
START = ("/", "/competitions", "/suites", "/compare", "/login")
ADDRESS = re.compile(r'(?:href|src|action)="([^"]*)"')
# Of addresses that differ in a name alone, so many are followed: all runs look the same.
EACH = 4
SHAPES = (
    (re.compile(r"(run|sub|key|rcp|rgr)_[0-9a-f]{26}"), "ID"),
    (re.compile(r"tiny-\d\d"), "SLUG"),
)


def crawl(client: httpx.Client, start: tuple[str, ...] = START) -> Iterator[httpx.Response]:
    """Every answer to a GET that links lead to, from `start` on."""
    waiting, seen = list(start), set(start)
    shapes: dict[str, int] = {}
    while waiting:
        path = waiting.pop()
        answer = client.get(path)
        yield answer
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        for found in ADDRESS.findall(answer.text):
            address = urljoin(str(answer.url), unescape(found))
            parts = urlsplit(address)
            assert parts.netloc == answer.url.netloc.decode(), f"{path} links to {address}"
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            shape = target
            for pattern, name in SHAPES:
                shape = pattern.sub(name, shape)
            most = EACH
            form = PICTURE.search(parts.path)
            if form:  # a process renders each: every kind as SVG, and one of every other form
                shape, most = parts.path.rpartition("/")[2] if form[1] == "svg" else form[1], 1
            if target in seen or found == "/logout" or shapes.get(shape, 0) >= most:
                continue
            seen.add(target)
            shapes[shape] = shapes.get(shape, 0) + 1
            waiting.append(target)


def unescape(text: str) -> str:
    from html import unescape as of_html

    return of_html(text)


@pytest.fixture(params=["nobody", "researcher", "admin"])
def role(request: pytest.FixtureRequest) -> str:
    return request.param


def test_no_link_is_broken_and_no_markup_is_a_users(filled: Filled, role: str) -> None:
    key = {"nobody": "", "researcher": filled.researcher, "admin": filled.admin}[role]
    imported(filled)
    pages, met = 0, set()
    for answer in crawl(visitor(filled.server, key), (*START, "/suites/open")):
        path = answer.url.path
        met.add(ID.sub("ID", path))
        allowed = {200}
        if role == "nobody":
            allowed |= {401, 403}
        if path == "/compare" or path.endswith("medals-over-time"):
            allowed |= {409}
        assert answer.status_code in allowed, f"{answer.url}: {answer.status_code}"
        if answer.headers["Content-Type"].startswith("text/html"):
            pages += 1
            check_page(answer)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "content-security-policy" in answer.headers
        if role != "admin":
            assert "/operations" not in answer.text.split("</header>")[0]
    assert "/suites/open" in met
    assert pages > (1 if role == "nobody" else 25)
    if role != "nobody":
        assert {"/experiments/careful-agent/receipts", "/runs/ID", "/submissions/ID"} <= met
    assert ("/operations/imports/ID" in met) == (role == "admin")


def test_an_empty_podium_has_no_broken_link(empty: PodiumServer) -> None:
    statuses = {answer.status_code for answer in crawl(visitor(empty, empty.key))}

    assert statuses == {200}


def test_nothing_of_the_results_is_on_a_page_for_nobody(filled: Filled) -> None:
    secret = [*filled.experiments[:2], "agent-0", "tiny-0", EVIL_LINE[:10], "run_", "sub_"]
    nobody = visitor(filled.server)
    run = f"/runs/{filled.runs[0]['id']}"
    pictures = [
        f"{name}.{form}" for form in ("svg", "png", "pdf", "vl.json") for name in (
            "/cost", "/suites/tiny/medal-rates", "/suites/open/medal-rates",
            "/competitions/tiny-00/leaderboard", "/experiments/careful-agent/heat-map",
        )
    ]  # fmt: skip
    twins = [f"{path}?format={form}" for path in ("/", run, "/suites/tiny", "/operations/reviews")
             for form in ("csv", "json")]  # fmt: skip
    for path in (*START, run, "/experiments/careful-agent", "/none", "/operations/reviews",
                 "/operations/reviews?state=all", f"/operations/reviews/{filled.runs[0]['id']}",
                 "/operations/imports", "/suites/other", *pictures, *twins):  # fmt: skip
        answer = nobody.get(path)
        assert answer.headers["Content-Type"].startswith("text/html"), path
        if path in pictures or "?format" in path:
            assert answer.status_code == 401, path
        text = answer.text.replace("&amp;", "&").replace(path, "").replace(f'value="{path}"', "")
        assert not [word for word in secret if word in text], path


@pytest.mark.parametrize("who", ["run", "harness"])
def test_a_key_of_a_run_or_harness_opens_no_page(filled: Filled, who: str) -> None:
    key = filled.run if who == "run" else filled.harness
    client = visitor(filled.server)
    client.headers["Authorization"] = f"Bearer {key}"
    for path in ("/", "/experiments/careful-agent", f"/runs/{filled.runs[0]['id']}",
                 f"/submissions/{sent(filled)}", "/competitions/tiny-00", "/suites/tiny",
                 "/suites/tiny/items", "/compare", "/operations"):  # fmt: skip
        assert client.get(path).status_code == 403, path


def sent(filled: Filled) -> str:
    submission: str = next(run["sent"][0] for run in filled.runs if run["sent"])
    return submission


def check_page(answer: httpx.Response) -> None:
    """Valid markup, a title, no script, style or event of a page's own, no text of a user's."""
    text = answer.text
    parsed = JustHTML(text, collect_errors=True)
    assert not parsed.errors, f"{answer.url}: {parsed.errors[:3]}"
    assert not mistakes_of(text), f"{answer.url}: {mistakes_of(text)[:5]}"
    assert re.search(r"<title>.+ · Podium</title>", text, re.DOTALL), answer.url
    for tag in TAG.findall(text):
        assert not OWN.search(tag), f"{answer.url}: {tag}"
    for forbidden in ("<style", "<b>for</b>", "49 שלום", "<img src=https"):
        assert forbidden not in text, f"{answer.url}: {forbidden}"
    assert "<script>alert" not in text, answer.url
    assert len(answer.content) < 150_000, answer.url


def test_a_public_board_shows_its_rows_and_leads_nowhere_else(filled: Filled) -> None:
    nobody = visitor(filled.server)
    of_a_run = visitor(filled.server)
    of_a_run.headers["Authorization"] = f"Bearer {filled.run}"

    for reader in (nobody, of_a_run):
        board = reader.get("/suites/open")
        assert board.status_code == 200
        assert "careful-agent" in board.text
        assert "/experiments/" not in board.text
        assert "run_" not in board.text
        assert "Not counted" not in board.text
        check_page(board)
    assert nobody.get("/suites/open?padded=fail").status_code == 422
    unknown = nobody.get("/suites/other")  # it is public, and suites.toml has none of this name
    assert unknown.status_code == 404
    assert not [name for name in ("tiny", "mle-bench", "open") if name in unknown.text]
    assert "other" in visitor(filled.server, filled.researcher).get("/suites/other").text
    for path in ("/suites/tiny", "/suites/open/items", "/suites/open/medal-rates.svg",
                 "/v1/medal-rates?suite=open", "/suites"):  # fmt: skip
        assert nobody.get(path).status_code == 401, path
