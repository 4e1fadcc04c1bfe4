"""Each page as JSON and CSV: its rows, with the numbers of the API."""

from __future__ import annotations

import csv
import io
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.web.conftest import caller, visitor
from tests.web.dataset import EVIL_NAME, Filled
from tests.web.test_crawl import unescape
from tests.web.test_imports import archive, confirmed, settled

CSV_LINK = re.compile(r'<link rel="alternate" type="text/csv" href="([^"]+)">')
JSON_LINK = re.compile(r'<link rel="alternate" type="application/json" href="([^"]+)">')
ROW = re.compile(r'<th scope="row"[^>]*>(.*?)</th>', re.DOTALL)
# The page; the region of its table, whose rows have a heading; the column of the twins with it.
PAGES = (
    ("/", "Table of experiments", "experiment"),
    ("/?sort=any_medal&order=up", "Table of experiments", "experiment"),
    ("/?q=quick", "Table of experiments", "experiment"),
    ("/experiments/careful-agent", "Heat map", "competition"),
    ("/experiments/careful-agent?suite=tiny", "Heat map", "competition"),
    ("/experiments/careful-agent/medals-over-time?padding=available", "Table of moments", "at"),
    ("/experiments/careful-agent/receipts", "Table of receipts", "id"),
    (f"/experiments/{quote(EVIL_NAME, safe='')}", "Heat map", "competition"),
    (f"/compare?a=careful-agent&b={quote('quick agent & co')}", "Table of competitions",
     "competition"),
    ("RUN", "Table of submissions", "submission"),
    ("REJECTED", "Table of violations", "code"),
    ("/competitions", "Table of competitions", "competition"),
    ("/competitions?q=tiny-1", "Table of competitions", "competition"),
    ("/competitions/tiny-00", "Table of attempts", "experiment"),
    ("/competitions/tiny-00?sort=percentile", "Table of attempts", "experiment"),
    ("/suites", "Table of suites", "suite"),
    ("/suites/tiny", "Board", "experiment"),
    ("/suites/tiny?padding=available", "Board", "experiment"),
    ("/suites/tiny/items", "Table of items", "competition"),
    ("/suites/tiny/items?padding=available&rate=gold", "Table of items", "competition"),
    ("/operations", "Table of faults", "submission"),
    ("/operations/keys", "Table of keys", "id"),
    ("/operations/imports", "Table of imports", "id"),
    ("IMPORT", "Table of mistakes", "file"),
    ("/operations/reviews?state=all", "Table of runs with signals", "run"),
    ("/operations/reviews?state=decided", "Table of runs with signals", "run"),
    ("REVIEW", "Table of signals", "signal"),
)  # fmt: skip
MAY_BE_EMPTY = ("/operations", "/operations/reviews?state=decided", "REVIEW")


def path_of(filled: Filled, path: str) -> str:
    """The address that a name in PAGES stands for."""
    run = next(run for run in filled.runs if len(run["sent"]) > 1)
    if path == "REJECTED":
        return f"/submissions/{run['sent'][0]}"
    if path == "IMPORT":
        return f"/operations/imports/{refused(filled)}"
    return {
        "RUN": f"/runs/{run['id']}", "REVIEW": f"/operations/reviews/{run['id']}"
    }.get(path, path)  # fmt: skip


def refused(filled: Filled) -> str:
    """The id of an import of an archive with mistakes."""
    admin = visitor(filled.server, filled.admin)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(filled.folder(0), Path(scratch) / "wrong"))
        (folder / "competition.toml").write_text('title = "<b>"\n')
        answer = confirmed(admin, archive(folder))
    settled(admin, answer)
    return answer.headers["Location"].rpartition("/")[2]


def headings(text: str, region: str) -> list[str]:
    """The headings of the rows of a table, without their marks."""
    part = text.split(f'aria-label="{region}"')
    found = ROW.findall(part[1].split("</table>")[0]) if len(part) > 1 else []
    return [unescape(re.sub(r"<[^>]+>", "", each.split("<span")[0])).strip() for each in found]


def rows_of(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.text)))


def csv_of(browser: httpx.Client, path: str) -> list[dict[str, str]]:
    found = CSV_LINK.search(browser.get(path).text)
    assert found, path
    return rows_of(browser.get(unescape(found[1])))


@pytest.mark.parametrize(("path", "region", "column"), PAGES)
def test_the_twins_of_every_page_have_its_rows(
    filled: Filled, path: str, region: str, column: str
) -> None:
    address = path_of(filled, path)
    if path == "/operations/imports":
        refused(filled)
    browser = visitor(filled.server, filled.admin)
    page = browser.get(address).text

    twin = JSON_LINK.search(page)
    assert twin, path
    answer = browser.get(unescape(twin[1]))
    rows = csv_of(browser, address)

    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    listed = answer.json()["rows"]
    shown = [name.replace(" ", "_") if column == "signal" else name
             for name in headings(page, region)]  # fmt: skip
    if column == "at":
        assert shown == [f"{at:.6g}" for at in dict.fromkeys(row["at"] for row in listed)]
    else:
        # The experiments that a board does not count are below its table.
        counted = [row for row in listed if not row.get("not_counted")]
        assert list(dict.fromkeys(shown)) == list(dict.fromkeys(row[column] for row in counted))
    assert [row[column] for row in rows] == [str(row[column]) for row in listed]
    assert shown or path in MAY_BE_EMPTY
    assert len(csv_of(browser, address)) == len(listed)


def test_the_json_of_a_page_has_what_stands_beside_its_table(filled: Filled) -> None:
    browser = visitor(filled.server, filled.admin)

    def facts(path: str) -> Any:
        address = path_of(filled, path)
        return browser.get(f"{address}{'&' if '?' in address else '?'}format=json").json()

    listed = facts("/?sort=any_medal&page=1")
    assert (listed["sort"], listed["order"], listed["page"]) == ("any_medal", "down", 1)
    assert listed["total"] >= len(filled.experiments)
    assert {"any_medal", "runs95_low", "percentile", "cost_usd"} <= set(listed["rows"][0])
    one = facts("/experiments/careful-agent")
    assert one["rates"]["any_medal"] is not None
    assert sum(one["counts"].values()) == len(one["rows"])
    run = facts("RUN")
    assert run["told"].keys() == run["told_to_harness"].keys()
    assert run["total"] == len(run["rows"]) > 1
    assert (run["final"] is not None) == any(row["final"] for row in run["rows"])
    competition = facts("/competitions/tiny-00")
    api = caller(filled.server).get("/v1/competitions/tiny-00").json()
    assert competition["versions"][0]["number"] == api["version"]
    assert competition["regrades"]
    assert competition["leaderboard"]["lines"].keys() == {"gold", "silver", "bronze", "median"}
    operations = facts("/operations")
    assert operations["queue"]["disk_free"] > 0
    assert operations["queue"]["graders"] > 0
    assert facts("/competitions?q=tiny-1")["q"] == "tiny-1"
    assert facts("/operations/reviews?state=all")["state"] == "all"
    compared = facts(f"/compare?a=careful-agent&b={quote('quick agent & co')}")
    assert {"sentence", "difference", "ci95", "sign_test"} <= set(compared)
    assert compared["suite"] is None  # as on the other pages: no suite was named
    over_time = facts("/experiments/careful-agent/medals-over-time?padding=available")
    assert over_time["regret"]
    assert facts("IMPORT")["state"] == "refused"


def test_pages_without_a_table_say_so(filled: Filled) -> None:
    browser = visitor(filled.server, filled.admin)
    for path, status in (
        ("/compare?format=csv", 422), ("/experiments/none?format=csv", 404), ("/?format=xls", 422),
    ):  # fmt: skip
        assert browser.get(path).status_code == status, path
    nobody = visitor(filled.server)
    assert nobody.get("/suites/open?format=csv").status_code == 422
    assert nobody.get("/?format=csv").status_code == 401
    assert nobody.get("/suites/open?format=json").status_code == 422
    assert nobody.get("/?format=json").status_code == 401
    assert not CSV_LINK.search(browser.get("/compare").text)
    for path in ("/login", "/experiments/none"):
        assert not JSON_LINK.search(browser.get(path).text)
        assert not CSV_LINK.search(browser.get(path).text)


def test_the_numbers_of_the_csv_are_those_of_the_json(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    listed = {row["experiment"]: row for row in csv_of(browser, "/")}

    for name in filled.experiments:
        address = f"/v1/experiments/{quote(name, safe='')}/medal-rates?padding=available"
        rates = caller(filled.server).get(address).json()["groups"]["all"]
        row = listed[name]
        for rate in ("any_medal", "gold", "silver", "bronze", "above_median"):
            assert row[rate] == str(rates[rate]["mean"])
        assert float(row["runs95_low"]) == pytest.approx(rates["any_medal"]["runs95"][0])
        cells = csv_of(browser, f"/experiments/{quote(name, safe='')}")
        assert len(cells) == len(filled.slugs) * 3
        gold = sum(cell["state"] == "gold" for cell in cells)
        counted = sum(cell["state"] not in ("pending", "failed", "missing") for cell in cells)
        assert gold <= counted
    attempts = csv_of(browser, "/competitions/tiny-03")
    items = caller(filled.server).get("/v1/competitions/tiny-03/results").json()["items"]
    assert {row["run"]: row["score"] and float(row["score"]) for row in attempts} == {
        item["run"]: "" if item["score"] is None else item["score"] for item in items
    }
    scores = [float(row["score"]) for row in attempts if row["score"]]
    assert scores in (sorted(scores), sorted(scores, reverse=True))


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
