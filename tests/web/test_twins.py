"""The CSV of each page: the rows of its table, with the numbers of the JSON."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import quote

import httpx
import pytest

from tests.web.conftest import caller, visitor
from tests.web.dataset import EVIL_NAME, Filled
from tests.web.test_crawl import unescape

CSV_LINK = re.compile(r'<link rel="alternate" type="text/csv" href="([^"]+)">')
JSON_LINK = re.compile(r'<link rel="alternate" type="application/json" href="([^"]+)">')
NO_TABLE = ("/login", "/compare", "/operations/imports")
PAGES = (
    "/", "/?sort=any_medal", "/experiments/careful-agent", "/experiments/careful-agent?suite=tiny",
    "/experiments/careful-agent/medals-over-time?padding=available",
    "/experiments/careful-agent/receipts", f"/experiments/{quote(EVIL_NAME, safe='')}",
    f"/compare?a=careful-agent&b={quote('quick agent & co')}", "RUN", "SUBMISSION",
    "/competitions", "/competitions?q=tiny-1", "/competitions/tiny-00", "/suites", "/suites/tiny",
    "/suites/tiny/items", "/operations", "/operations/keys",
)  # fmt: skip


def rows_of(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.text)))


def csv_of(browser: httpx.Client, path: str) -> list[dict[str, str]]:
    found = CSV_LINK.search(browser.get(path).text)
    assert found, path
    return rows_of(browser.get(unescape(found[1])))


@pytest.mark.parametrize("path", PAGES)
def test_every_page_with_a_table_links_its_json_and_csv(filled: Filled, path: str) -> None:
    run = next(run for run in filled.runs if run["sent"])
    path = {"RUN": f"/runs/{run['id']}", "SUBMISSION": f"/submissions/{run['sent'][0]}"}.get(
        path, path
    )
    browser = visitor(filled.server, filled.admin)

    twin = JSON_LINK.search(browser.get(path).text)
    rows = csv_of(browser, path)

    assert twin, path
    answer = browser.get(unescape(twin[1]))
    assert answer.status_code == 200
    answer.json()
    if path not in ("/operations", f"/submissions/{run['sent'][0]}"):  # no faults or violations
        assert rows, path


def test_pages_without_a_table_say_so(filled: Filled) -> None:
    browser = visitor(filled.server, filled.admin)
    for path in ("/compare?format=csv", "/experiments/none?format=csv", "/?format=xls"):
        assert browser.get(path).status_code in (404, 422), path
    nobody = visitor(filled.server)
    assert nobody.get("/suites/open?format=csv").status_code == 422
    assert nobody.get("/?format=csv").status_code == 401
    for path in NO_TABLE:
        assert not CSV_LINK.search(browser.get(path).text)


def test_the_numbers_of_the_csv_are_those_of_the_json(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    listed = {row["experiment"]: row for row in csv_of(browser, "/")}

    for name in filled.experiments:
        address = f"/v1/experiments/{quote(name, safe='')}/medal-rates?padding=available"
        rates = caller(filled.server).get(address).json()["groups"]["all"]
        row = listed[name]
        for rate in ("any_medal", "gold", "silver", "bronze", "above_median"):
            assert float(row[rate]) == pytest.approx(rates[rate]["mean"])
        assert float(row["runs95_low"]) == pytest.approx(rates["any_medal"]["runs95"][0])
        cells = csv_of(browser, f"/experiments/{quote(name, safe='')}")
        assert len(cells) == 20 * 3
        gold = sum(cell["state"] == "gold" for cell in cells)
        counted = sum(cell["state"] not in ("pending", "failed", "missing") for cell in cells)
        assert gold <= counted
    attempts = csv_of(browser, "/competitions/tiny-03")
    items = caller(filled.server).get("/v1/competitions/tiny-03/results").json()["items"]
    assert [row["run"] for row in attempts] == [item["run"] for item in items]
    assert [float(row["score"]) for row in attempts if row["score"]] == [
        item["score"] for item in items if item["score"] is not None
    ]


def test_a_rejected_file_has_its_violations_as_csv(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    for run in filled.runs:
        for sent in run["sent"]:
            one = browser.get(f"/v1/submissions/{sent}").json()
            if one["state"] == "rejected":
                rows = csv_of(browser, f"/submissions/{sent}")
                listed = one["problem"]["violations"]
                assert [row["code"] for row in rows] == [v["code"] for v in listed]
                assert [row["message"] for row in rows] == [v["message"] for v in listed]
                return
    raise AssertionError("no file was rejected")
