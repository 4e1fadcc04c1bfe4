"""Archives imported from a page: who may, how far it is, and what was wrong."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from tests.factories import write_competition
from tests.server import PodiumServer
from tests.web.browser import log_in, reader
from tests.web.conftest import caller, visitor
from tests.web.dataset import Filled
from tests.web.test_login import form_token, run_to_close

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HERE = "/operations/imports"
EVIL_FILE = "public/<script>alert(1)</script>.csv"


def archive(folder: Path, extra: dict[str, bytes] | None = None) -> bytes:
    """A zip of a competition folder, with more files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                made.write(path, f"{folder.name}/{path.relative_to(folder)}")
        for name, content in (extra or {}).items():
            made.writestr(f"{folder.name}/{name}", content)
    return data.getvalue()


def send(browser: httpx.Client, data: bytes, **fields: str) -> httpx.Response:
    return browser.post(HERE, data=fields, files={"archive": ("x.zip", data)})


def confirmed(browser: httpx.Client, data: bytes) -> httpx.Response:
    return send(browser, data, token=form_token(browser, HERE), confirm="yes")


def settled(browser: httpx.Client, answer: httpx.Response) -> str:
    """The page of an import when it is over."""
    assert answer.status_code == 303, answer.text
    end = time.monotonic() + 60
    while time.monotonic() < end:
        text = browser.get(answer.headers["Location"]).text
        if "so far" not in text:
            return text
        time.sleep(0.05)
    raise AssertionError("the import did not end")


def test_an_admin_imports_an_archive_in_a_browser(
    chromium: Browser, filled: Filled, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "from-a-page", seed=5)
    file = tmp_path / "from-a-page.zip"
    file.write_bytes(archive(folder))
    with reader(chromium, filled.server) as page:
        log_in(page, filled.admin)
        page.goto("/operations")
        page.get_by_role("link", name="Import a competition").click()
        page.get_by_label("Archive").set_input_files(file)
        page.get_by_role("button", name="Import").click()
        assert page.url.endswith(HERE)  # the browser asks for the tick first
        page.get_by_label("New runs are to use this version").check()
        page.get_by_role("button", name="Import").click()
        page.get_by_text("was imported as version 1").wait_for(timeout=30_000)
        page.get_by_role("link", name="from-a-page").click()
        page.get_by_role("heading", name="Human leaderboard").wait_for()


def test_mistakes_are_listed_and_nothing_is_imported(filled: Filled, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "with-mistakes")
    toml = folder / "competition.toml"
    toml.write_text(toml.read_text().replace("title =", "titel ="))
    browser = visitor(filled.server, filled.admin)

    text = settled(browser, confirmed(browser, archive(folder)))

    assert "Nothing was imported" in text
    assert "competition.toml" in text
    assert "title" in text
    assert caller(filled.server).get("/v1/competitions/with-mistakes").status_code == 404
    for name in (
        EVIL_FILE,
        "public/../../evil.csv",
        "public/\u202eevil.csv",
        "public/" + "w" * 300,
    ):
        text = settled(browser, confirmed(browser, archive(folder, {name: b"x"})))
        assert "Nothing was imported" in text, name
        assert "<script>alert" not in text
    assert "Nothing was imported" in settled(browser, confirmed(browser, b"no archive"))


def test_the_same_archive_again_is_the_same_version(filled: Filled) -> None:
    browser = visitor(filled.server, filled.admin)

    text = settled(browser, confirmed(browser, archive(filled.folder(1))))

    assert "has the same content already: version 1" in text


def test_an_archived_competition_is_told_so(filled: Filled, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "archived-one", seed=7)
    browser = visitor(filled.server, filled.admin)
    first = settled(browser, confirmed(browser, archive(folder)))
    admin = caller(filled.server)
    address = "/v1/competitions/archived-one/archive"
    assert admin.post(address, json={"reason": "a leak"}).status_code == 200

    again = settled(browser, confirmed(browser, archive(folder)))

    assert "was archived at" not in first
    assert "was archived at" in again
    assert "a leak" in again


def test_only_an_admin_with_a_token_and_a_tick_imports(filled: Filled, tmp_path: Path) -> None:
    data = archive(write_competition(tmp_path / "unwanted"))
    admin = visitor(filled.server, filled.admin)
    researcher = visitor(filled.server, filled.researcher)
    token = form_token(admin, HERE)
    foreign = form_token(researcher, f"/runs/{run_to_close(filled)}/close")

    refusals = [
        (send(visitor(filled.server), data, token=token, confirm="yes"), 401),
        (send(researcher, data, token=foreign, confirm="yes"), 403),
        (send(admin, data, token=foreign, confirm="yes"), 403),
        (send(admin, data, confirm="yes"), 403),
        (send(admin, data, token=token), 422),
        (send(admin, b"", token=token, confirm="yes"), 422),
        (admin.post(HERE, data={"token": token, "confirm": "yes"}), 415),
        (
            admin.post(
                HERE, data={"token": token, "confirm": "yes"}, files={"archive": ("x", data)},
                headers={"Origin": "https://evil.example"},
            ),
            403,
        ),
    ]  # fmt: skip
    assert [answer.status_code for answer, _ in refusals] == [status for _, status in refusals]
    assert all(answer.headers["Content-Type"].startswith("text/html") for answer, _ in refusals)
    assert caller(filled.server).get("/v1/competitions/unwanted").status_code == 404
    assert researcher.get(HERE).status_code == 403
    assert admin.get(f"{HERE}/imp_none").status_code == 404


def test_progress_is_shown_and_a_second_import_waits_its_turn(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data", max_upload_mb=40).start()
    try:
        browser = visitor(server, server.key)
        folder = write_competition(tmp_path / "many-files")
        extra = {f"public/images/{n}.txt": b"x" * 100 for n in range(12_000)}

        first = confirmed(browser, archive(folder, extra))
        shown = browser.get(first.headers["Location"]).text
        second = confirmed(browser, archive(write_competition(tmp_path / "small")))

        assert "so far" in shown
        assert 'data-hx-trigger="every 1s"' in shown
        assert second.status_code == 409
        assert "An import is going on" in second.text
        too_large = send(browser, b"x" * 41_000_000 + b"y" * 2_000_000, token="x")
        is_over = "so far" not in browser.get(first.headers["Location"]).text
        assert too_large.status_code == 409 or (is_over and too_large.status_code == 413)
    finally:
        assert server.stop() == 0  # in the middle of the import
    assert not list((tmp_path / "data" / "tmp").glob("*/staged"))


def test_a_body_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data", max_upload_mb=1).start()
    try:
        browser = visitor(server, server.key)
        answer = confirmed(browser, b"x" * 1_200_000)
        assert answer.status_code == 413
        assert "larger than the 1 MB this service accepts (PODIUM_MAX_UPLOAD_MB)" in answer.text
        assert not list((tmp_path / "data" / "tmp").iterdir())
    finally:
        assert server.stop() == 0


def test_an_archive_whose_login_ends_while_it_comes_is_not_imported(
    empty: PodiumServer, tmp_path: Path
) -> None:
    browser = visitor(empty, empty.key)
    folder = write_competition(tmp_path / "late")
    fields = {"token": form_token(browser, HERE), "confirm": "yes"}
    files = {"archive": ("x.zip", archive(folder))}
    whole = browser.build_request("POST", HERE, data=fields, files=files)
    data = whole.read()
    other = visitor(empty)
    other.cookies.update(browser.cookies)

    def parts() -> Iterator[bytes]:
        yield data[:-100]
        time.sleep(0.3)  # the server finds the login, and receives
        assert other.post("/logout").status_code == 303
        yield data[-100:]

    headers = {"Content-Type": whole.headers["Content-Type"], "Content-Length": f"{len(data)}"}
    answer = browser.post(HERE, content=parts(), headers=headers)

    assert answer.status_code == 401
    assert "ended by a log-out" in answer.text
    assert "late" not in visitor(empty, empty.key).get(HERE).text
