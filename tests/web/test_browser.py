"""The pages in a real Chromium: what somebody sees, clicks and can read with a screen reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from axe_playwright_python.base import AXE_SCRIPT, AxeResults

from tests.server import PodiumServer
from tests.web.browser import click_and_load, log_in, log_in_without_form, reader
from tests.web.conftest import caller, visitor
from tests.web.dataset import EVIL_COMPETITION, EVIL_NAME, Filled
from tests.web.test_imports import archive, confirmed, settled

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

A4_WIDTH = round((297 - 2 * 10) / 25.4 * 96)  # of landscape A4 with margins of 10 mm, in pixels
OF_SWAGGER = {
    "color-contrast", "nested-interactive", "region", "landmark-one-main", "heading-order",
    "page-has-heading-one", "select-name", "scrollable-region-focusable",
}  # fmt: skip
DARK = 6  # pages whose colours are checked in the dark: the first have all there are


def addresses(filled: Filled) -> list[str]:
    run = next(run for run in filled.runs if len(run["sent"]) > 1)
    rejected = next(
        sent
        for run in filled.runs
        for sent in run["sent"]
        if caller(filled.server).get(f"/v1/submissions/{sent}").json()["state"] == "rejected"
    )
    evil = quote(EVIL_NAME, safe="")
    return [
        "/", "/?sort=any_medal", f"/?q={quote('<script>')}", "/experiments/careful-agent",
        f"/experiments/{evil}", "/experiments/careful-agent?suite=tiny",
        "/experiments/careful-agent/medals-over-time?padding=available",
        f"/compare?a=careful-agent&b={evil}", "/compare", f"/runs/{run['id']}",
        f"/runs/{run['id']}/close", f"/submissions/{run['sent'][-1]}", f"/submissions/{rejected}",
        "/competitions", "/competitions/tiny-00", "/suites", "/suites/tiny", "/suites/tiny/items",
        "/operations", "/operations/keys", "/experiments/none", "/login", "/operations/imports",
        "/operations/reviews?state=all", f"/operations/reviews/{run['id']}",
        "/experiments/careful-agent/receipts", f"/experiments/{evil}/receipts",
        f"/competitions/tiny-{EVIL_COMPETITION:02}", f"/submissions/{filled.measured[0]}",
        f"/operations/imports/{imported(filled)}",
    ]  # fmt: skip


def imported(filled: Filled) -> str:
    """The id of an import that found mistakes."""
    admin = visitor(filled.server, filled.admin)
    answer = confirmed(admin, archive(filled.folder(0), {"public/<script>.csv": b"x"}))
    settled(admin, answer)
    return answer.headers["Location"].rpartition("/")[2]


def check_rules(page: Page, where: str, **options: object) -> None:
    """No violation of axe-core's rules. What a page did right stays in the browser: it is long."""
    page.evaluate(AXE_SCRIPT)
    violations = page.evaluate(
        "options => axe.run(options).then(found => ({violations: found.violations}))",
        {"resultTypes": ["violations"], **options},
    )
    found = AxeResults(violations)
    assert found.violations_count == 0, f"{where}:\n{found.generate_report()}"


def check_access(page: Page, where: str) -> None:
    """No violation of axe-core's rules, and nothing wider than the window."""
    check_rules(page, where)
    check_width(page, where)


def check_width(page: Page, where: str) -> None:
    """Nothing is wider than the window but tables, which scroll."""
    width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0, f"{where} is {width} pixels too wide"


def test_every_page_can_be_read(chromium: Browser, filled: Filled, artefacts: Path) -> None:
    with reader(chromium, filled.server) as page:
        log_in(page, filled.admin)
        for number, address in enumerate(addresses(filled)):
            page.goto(address)
            check_access(page, address)
            page.screenshot(path=artefacts / f"page-{number:02}.png")


def test_the_colours_of_the_dark_can_be_read(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server, color_scheme="dark") as page:
        log_in_without_form(page, filled.admin)
        for address in addresses(filled)[:DARK]:
            page.goto(address)
            check_rules(page, address, runOnly=["color-contrast", "link-in-text-block"])


def test_no_page_is_wider_than_a_phone(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server, viewport={"width": 360, "height": 740}) as page:
        log_in_without_form(page, filled.admin)
        for address in addresses(filled):
            page.goto(address)
            check_width(page, address)


def test_what_a_wide_table_is_about_is_read_on_a_phone_without_scrolling(
    chromium: Browser, filled: Filled
) -> None:
    with reader(chromium, filled.server, viewport={"width": 360, "height": 740}) as page:
        log_in_without_form(page, filled.admin)
        for path in ("/", "/suites/tiny/items"):
            page.goto(filled.server.url + path)
            caption, table = (
                page.evaluate(f"document.querySelector('{each}').getBoundingClientRect().right")
                for each in ("caption", ".wide table")
            )
            assert caption <= 350 < table, path


def test_a_list_of_long_names_is_read_without_scrolling_sideways(
    chromium: Browser, filled: Filled
) -> None:
    name, flag = "text-normalization-challenge-russian-language", "metric_differs_from_kaggle"
    with reader(chromium, filled.server, viewport={"width": 1280, "height": 740}) as page:
        log_in_without_form(page, filled.admin)
        page.goto("/competitions")
        page.locator("tbody th a").first.evaluate("(link, name) => link.textContent = name", name)
        page.locator(".chip").first.evaluate("(chip, flag) => chip.textContent = flag", flag)
        widths = "table => [table.scrollWidth, table.clientWidth]"
        table, window = page.locator(".wide").evaluate(widths)
        assert table <= window


def test_a_wide_table_has_the_width_of_a_wide_window(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server, viewport={"width": 2560, "height": 1200}) as page:
        log_in_without_form(page, filled.admin)
        page.goto("/")
        table, shown, text = page.locator(".wide").evaluate(
            "table => [table.scrollWidth, table.clientWidth,"
            " document.querySelector('main > p').clientWidth]"
        )
        assert 1_500 < table <= shown
        assert text < 1_000


def test_text_below_a_picture_stays_where_it_is_when_the_picture_comes(
    chromium: Browser, filled: Filled
) -> None:
    with reader(chromium, filled.server) as page:
        log_in_without_form(page, filled.admin)
        page.goto("/competitions/tiny-00")
        picture = page.locator("figure img")
        below = "figure => figure.getBoundingClientRect().bottom"
        picture.evaluate("img => img.removeAttribute('src')")  # as before it has come
        before = page.locator("figure").evaluate(below)
        picture.evaluate("img => { img.loading = 'eager'; img.src = 'tiny-00/leaderboard.svg'; }")
        picture.evaluate("img => img.decode()")
        assert picture.evaluate("img => img.naturalHeight") > 300
        assert abs(page.locator("figure").evaluate(below) - before) < 40


def test_every_page_of_an_empty_podium_can_be_read(chromium: Browser, empty: PodiumServer) -> None:
    with reader(chromium, empty) as page:
        log_in_without_form(page, empty.key)
        for address in ("/", "/competitions", "/suites", "/compare", "/operations",
                        "/operations/keys", "/operations/imports"):  # fmt: skip
            page.goto(address)
            check_access(page, address)


def test_a_run_key_is_refused_with_a_word_of_why(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server) as page:
        page.goto("/")
        page.get_by_label("Key of a researcher or an admin").fill(filled.run)
        page.keyboard.press("Enter")
        assert "a run's key reaches only its own run" in page.get_by_role("alert").inner_text()


def test_sort_and_filter(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server, java_script_enabled=False) as page:
        log_in(page, filled.researcher)

        click_and_load(page, page.get_by_role("link", name="Any medal"))
        down = rates(page)
        click_and_load(page, page.get_by_role("link", name="Any medal"))
        up = rates(page)
        page.get_by_label("Name, agent or model").fill("QUICK agent")
        click_and_load(page, page.get_by_role("button", name="Filter"))

        assert down == sorted(down, reverse=True)
        assert up == down[::-1]
        assert len(set(down)) > 1
        assert page.locator("tbody tr").count() == 1
        assert page.get_by_role("link", name="quick agent & co").is_visible()


def test_a_reason_that_is_too_long_is_not_cut(chromium: Browser, filled: Filled) -> None:
    """It goes to the public log, and what was cut off there stays cut off."""
    reason = "because " * 250 + "🔍"
    address = f"/operations/reviews/{filled.runs[1]['id']}"
    with reader(chromium, filled.server) as page:
        log_in_without_form(page, filled.admin)
        page.goto(address)
        field, button = page.get_by_label("Reason"), page.get_by_role("button", name="Decide")
        field.focus()
        page.keyboard.insert_text(reason)  # as from the clipboard
        button.click()

        assert field.input_value() == reason
        assert not field.evaluate("field => field.checkValidity()")
        assert page.get_by_text("Nobody has decided.").is_visible()

        page.keyboard.press("Home")
        page.keyboard.press("Delete")
        click_and_load(page, button)
        assert page.get_by_text(f", {reason[1:]}").is_visible()


def rates(page: Page) -> list[float]:
    texts = page.locator("tbody td b").all_inner_texts()
    return [float(text) for text in texts]


def test_from_the_board_to_a_submission_by_links_and_without_scripts(
    chromium: Browser, filled: Filled
) -> None:
    with reader(chromium, filled.server, java_script_enabled=False) as page:
        log_in(page, filled.researcher)
        click_and_load(page, page.get_by_role("link", name="Boards"))
        click_and_load(page, page.get_by_role("link", name="Board of tiny"))
        click_and_load(page, page.get_by_role("link", name="careful-agent"))
        click_and_load(page, page.locator("a.cell.gold, a.cell.silver, a.cell.bronze").first)
        click_and_load(page, page.locator("tbody th a").last)

        assert page.locator("main").get_by_text("place").first.is_visible()
        assert urlsplit(page.url).path.startswith("/submissions/sub_")
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        page.go_back()
        assert page.get_by_label("Key of a researcher or an admin").is_visible()


def test_all_of_a_page_is_printed(chromium: Browser, filled: Filled, artefacts: Path) -> None:
    run = next(run for run in filled.runs if len(run["sent"]) > 1)
    # As wide as the paper less its margins: what is wider would be cut off.
    with reader(chromium, filled.server, viewport={"width": A4_WIDTH, "height": 700}) as page:
        log_in_without_form(page, filled.researcher)
        page.emulate_media(media="print")
        for number, address in enumerate(
            ("/", "/suites/tiny", "/experiments/careful-agent", f"/runs/{run['id']}",
             "/competitions/tiny-00", "/suites/tiny/items")
        ):  # fmt: skip
            page.goto(address)
            ends = page.locator("th, td").evaluate_all(
                "cells => Math.max(...cells.map(each => each.getBoundingClientRect().right))"
            )
            assert ends <= A4_WIDTH, f"{address} ends at {ends}"
            assert not page.get_by_role("button").first.is_visible(), address
            assert page.locator("form:visible").count() == 0, address
            printed = page.pdf(path=artefacts / f"print-{number}.pdf", prefer_css_page_size=True)
            boxes = set(re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", printed))
            assert {(round(float(w)), round(float(h))) for w, h in boxes} == {(842, 595)}, address


def test_a_dark_screen_prints_as_a_light_one(chromium: Browser, filled: Filled) -> None:
    printed = []
    for scheme in ("light", "dark"):
        with reader(chromium, filled.server, color_scheme=scheme) as page:
            log_in_without_form(page, filled.researcher)
            page.emulate_media(media="print", color_scheme=scheme)
            page.goto("/experiments/careful-agent")
            printed.append(page.locator("main *").evaluate_all(
                "all => all.map(each => [getComputedStyle(each)]"
                ".map(style => style.color + style.backgroundColor)[0])"
            ))  # fmt: skip
    assert len(set(printed[0])) > 3
    assert printed[0] == printed[1]


def test_no_word_of_a_printed_table_runs_into_the_next(chromium: Browser, filled: Filled) -> None:
    with reader(chromium, filled.server, viewport={"width": A4_WIDTH, "height": 700}) as page:
        log_in_without_form(page, filled.researcher)
        page.emulate_media(media="print")
        page.goto("/")
        wider = page.locator("th, td").evaluate_all(
            "cells => cells.filter(each => each.scrollWidth > each.clientWidth)"
            ".map(each => each.innerText)"
        )
        assert wider == []
        chip = page.locator("td .chip").first.bounding_box()
        assert chip is not None
        assert chip["height"] < 25, "a flag is broken into lines"


def test_the_reference_needs_no_other_host(
    chromium: Browser, empty: PodiumServer, artefacts: Path
) -> None:
    with reader(chromium, empty) as page:
        answer = page.goto("/docs")
        page.locator('[data-path="/v1/medal-rates"]').click()
        page.locator('tr[data-param-name="padding"]').wait_for()
        page.screenshot(path=artefacts / "reference.png")
        assert page.title() == "Podium: API reference"
        # Swagger UI is a third party's page: decision 31 names these exceptions, and no other.
        check_rules(page, "/docs", rules={name: {"enabled": False} for name in OF_SWAGGER})
        assert answer is not None
        policy = answer.headers["content-security-policy"]
        assert re.findall(r"(\S+)-src [^;]*'unsafe-\w+'", policy) == ["style"]
        assert "'unsafe-eval'" not in policy
        page.goto("/login")
        assert "unsafe" not in page.request.get("/login").headers["content-security-policy"]
