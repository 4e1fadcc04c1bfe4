"""Pages that change while somebody looks: in a real Chromium, and the stream behind them."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.web.live import PER_LOGIN
from app.web.rendering.fill_templates import SCRIPTS, environment
from tests.crashable import crashable_postgres
from tests.factories import good_submission
from tests.server import PodiumServer
from tests.web.browser import log_in, reader
from tests.web.conftest import caller, visitor
from tests.web.dataset import WAIT, Filled, write_competitions

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STREAM = {"Accept": "text/html, text/event-stream"}


def new_run(filled: Filled, name: str) -> dict[str, Any]:
    admin = caller(filled.server)
    answer = admin.post("/v1/experiments", json={"name": name, "agent": "a", "model": "m"})
    assert answer.status_code == 201
    body = {"experiment": name, "competition": filled.slugs[0], "seed": 0, "feedback": "full"}
    made: dict[str, Any] = admin.post("/v1/runs", json=body).json()
    return made


def submit(
    filled: Filled, run: dict[str, Any], message: str = "", data: bytes | None = None
) -> str:
    own = {**WAIT, "Authorization": f"Bearer {run['key']}"}
    data = data or good_submission(filled.folder(0), shift=0.1)
    form = {"files": {"file": ("a.csv", data)}, "data": {"message": message}}
    own.pop("Content-Type")
    answer = caller(filled.server).post(
        f"/v1/runs/{run['id']}/submissions", headers=own, **form  # type: ignore[arg-type]
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    sent: str = answer.json()["id"]
    return sent


def mark(page: Page) -> None:
    """Leave a mark that a new load of the page would remove."""
    page.evaluate("window.sameLoad = true")


def is_same_load(page: Page) -> bool:
    same: bool = page.evaluate("window.sameLoad === true")
    return same


def test_an_open_page_sees_a_submission_its_grade_and_the_end(
    chromium: Browser, filled: Filled
) -> None:
    run = new_run(filled, "watched")
    with reader(chromium, filled.server) as page:
        log_in(page, filled.researcher)
        # Not its response: Chromium tells of the heads of a stream late when it is busy.
        with page.expect_request(f"**/runs/{run['id']}/changes"):
            page.goto(f"/runs/{run['id']}")
        page.get_by_text("There is no submission yet").wait_for()
        mark(page)

        sent = submit(filled, run, "<img src=x onerror=alert(1)>")
        row = page.locator("tbody tr", has_text=sent)
        row.get_by_text("graded").wait_for(timeout=15_000)
        second = submit(filled, run)
        page.locator("tbody tr", has_text=second).wait_for(timeout=15_000)

        assert page.locator("tbody tr").count() == 2
        row.get_by_text("<img src=x").wait_for()
        assert is_same_load(page)
        caller(filled.server).patch(f"/v1/runs/{run['id']}", json={"state": "closed"})
        page.locator("#following").wait_for(state="detached", timeout=15_000)
        assert page.locator("dt:text-is('State') + dd").inner_text() == "closed"
        page.get_by_role("link", name="rcp_").first.wait_for()
        assert is_same_load(page)


def test_the_page_of_a_login_that_ends_asks_for_the_key(chromium: Browser, filled: Filled) -> None:
    run = new_run(filled, "watched-by-a-guest")
    admin = caller(filled.server)
    guest = admin.post("/v1/keys", json={"role": "researcher", "name": "guest"}).json()
    with reader(chromium, filled.server) as page:
        log_in(page, guest["key"])
        page.goto(f"/runs/{run['id']}")
        page.get_by_text("There is no submission yet").wait_for()
        mark(page)

        admin.delete(f"/v1/keys/{guest['id']}")
        sent = submit(filled, run)

        page.get_by_role("alert").get_by_text("revoked").wait_for(timeout=15_000)
        page.get_by_label(
            "Key of a researcher or an admin"
        ).wait_for()  # part by part of the page is replaced
        assert page.get_by_text(sent).count() == 0
        assert is_same_load(page)
        page.get_by_label("Key of a researcher or an admin").fill(filled.researcher)
        page.keyboard.press("Enter")
        page.get_by_text(sent).first.wait_for()
        assert page.url.endswith(f"/runs/{run['id']}")


def test_the_operations_page_renews_itself(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server) as page:
        log_in(page, filled.admin)
        with page.expect_response("**/operations") as again:
            page.goto("/operations")
        assert again.value.status == 200
        mark(page)
        with page.expect_response("**/operations", timeout=15_000) as again:
            pass
        assert again.value.status == 200
        page.get_by_text("submissions wait").wait_for()
        assert is_same_load(page)


def test_what_is_open_while_the_database_goes_away_is_neither_stale_nor_lost(
    chromium: Browser, tmp_path: Path
) -> None:
    """The numbers of operations are not those from before, and a reason is typed once."""
    write_competitions(tmp_path / "folders", 1)
    with crashable_postgres() as postgres, postgres.database() as name:
        server = PodiumServer(
            tmp_path / "data", postgres.url(name), migrates=True,
            competitions_dir=tmp_path / "folders",
        ).start()  # fmt: skip
        admin = server.client()
        admin.post("/v1/experiments", json={"name": "mine", "agent": "a", "model": "m"})
        body = {"experiment": "mine", "competition": "tiny-00", "seed": 0}
        run = admin.post("/v1/runs", json=body).json()["id"]
        with reader(chromium, server) as page:
            log_in(page, server.key)
            page.goto("/operations")
            review = page.context.new_page()
            review.goto(f"/operations/reviews/{run}")
            review.get_by_label("Reason").fill("the notebook explains it")

            postgres.stop()

            page.get_by_role("alert").get_by_text("database").wait_for(timeout=20_000)
            assert page.get_by_text("Every part works").count() == 0
            review.get_by_role("button", name="Decide").click()
            review.get_by_text("Reload this page").wait_for()
            postgres.start()
            page.get_by_text("Every part works").wait_for(timeout=20_000)
            review.reload()
            review.get_by_text("accept, the notebook explains it").wait_for()
        admin.close()
        assert server.stop() == 0


def test_without_scripts_the_page_of_a_run_is_complete(chromium: Browser, filled: Filled) -> None:
    run = new_run(filled, "watched-without-scripts")
    with reader(chromium, filled.server, java_script_enabled=False) as page:
        log_in(page, filled.researcher)
        page.goto(f"/runs/{run['id']}")
        sent = submit(filled, run)
        assert page.locator("noscript").is_visible()
        assert not page.locator("#following").is_visible()
        page.reload()
        assert page.locator("tbody tr", has_text=sent).is_visible()


def test_only_pages_that_change_have_scripts(filled: Filled) -> None:
    run = new_run(filled, "with-scripts")
    browser = visitor(filled.server, filled.admin)
    for path, is_live in (
        (f"/runs/{run['id']}", True),
        (f"/runs/{filled.runs[-1]['id']}", filled.runs[-1]["open"]),
        ("/operations", True), ("/operations?before=1000000", False), ("/", False),
        ("/experiments/careful-agent", False),
    ):  # fmt: skip
        answer = browser.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert ("<script" in answer.text) == is_live, path
        assert ("script-src 'self';" in policy) == is_live, path
        assert "unsafe" not in policy
        assert answer.text.count("<script") == answer.text.count('<script src="/static/')


@pytest.mark.parametrize("end", ["key", "log-out"])
def test_a_stream_carries_no_data_and_ends_with_the_key(filled: Filled, end: str) -> None:
    run = new_run(filled, f"streamed-{end}")
    admin = caller(filled.server)
    guest = admin.post("/v1/keys", json={"role": "researcher", "name": "guest"}).json()
    browser = visitor(filled.server, guest["key"])
    with browser.stream("GET", f"/runs/{run['id']}/changes", headers=STREAM) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(lines) == "event: changed"
        submit(filled, run)
        if end == "key":
            admin.delete(f"/v1/keys/{guest['id']}")
        else:
            browser.post("/logout")
        submit(filled, run)
        rest = list(lines)  # the server ends it

    assert {line for line in rest if line} <= {"event: changed", "data: changed", ": still here"}


def test_streams_of_a_login_are_bounded(filled: Filled) -> None:
    run = new_run(filled, "streamed-often")
    guest = caller(filled.server).post("/v1/keys", json={"role": "researcher"}).json()
    browser = visitor(filled.server, guest["key"])
    address = f"/runs/{run['id']}/changes"
    open_streams = [
        browser.send(browser.build_request("GET", address, headers=STREAM), stream=True)
        for _ in range(PER_LOGIN)
    ]
    refused = browser.get(address, headers=STREAM)

    assert [each.status_code for each in open_streams] == [200] * PER_LOGIN
    assert refused.status_code == 429
    assert 'role="alert"' in refused.text
    for each in open_streams:
        each.close()


@pytest.mark.parametrize("who", ["run", "harness", "nobody"])
def test_a_stream_is_for_readers_of_results(filled: Filled, who: str) -> None:
    run = new_run(filled, f"streamed-for-{who}")
    client = visitor(filled.server)
    if who != "nobody":
        key = run["key"] if who == "run" else filled.harness
        client.headers["Authorization"] = f"Bearer {key}"
    answer: httpx.Response = client.get(f"/runs/{run['id']}/changes", headers=STREAM)
    assert answer.status_code == (401 if who == "nobody" else 403)


def test_files_of_others_are_those_that_are_told(filled: Filled) -> None:
    folder = resources.files("app.web") / "static" / "vendor"
    told = dict(
        re.findall(r"\| `(\S+\.js)` \| `([0-9a-f]{64})` \|", (folder / "README.md").read_text())
    )

    assert set(told) == set(SCRIPTS)
    for name, digest in told.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    address = environment().globals["static"]["live.js"]  # type: ignore[index]
    served = visitor(filled.server).get(address).content
    assert served == b"\n;\n".join((folder / name).read_bytes() for name in SCRIPTS)
    assert {one.name for one in folder.iterdir()} == {*told, "README.md", "LICENSE.htmx.txt"}
