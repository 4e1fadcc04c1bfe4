"""Runs with more submissions than a page has, and pages of many keys."""

from __future__ import annotations

import csv
import io
import re
import time
from typing import Any

import pytest

from app.web.administration.operations import KEYS
from app.web.runs import SUBMISSIONS
from tests.factories import good_submission
from tests.web.conftest import caller, visitor
from tests.web.dataset import EVIL_NAME, Filled
from tests.web.test_crawl import check_page, unescape
from tests.web.test_live import new_run, submit

MORE = 4
VALIDATIONS = 3
NEXT = re.compile(r'<a rel="next" href="([^"]+)"')
FINAL = re.compile(r'(sub_\w+)</a> <span class="chip">final')
ROW = re.compile(r"<tr>\s*<th scope=\"row\".*?</tr>", re.DOTALL)


@pytest.fixture(scope="module")
def long_run(filled: Filled) -> tuple[dict[str, Any], list[str]]:
    """A run whose last valid submission is on its second page, and the ids of all submissions."""
    run = new_run(filled, "long-run")
    sent = []
    with filled.server.client() as client:
        for number in range(SUBMISSIONS + MORE):
            data = good_submission(filled.folder(0), shift=0.001 * number)
            answer = client.post(
                f"/v1/runs/{run['id']}/submissions",
                headers={"Authorization": f"Bearer {run['key']}"},
                files={"file": ("a.csv", data)}, data={"message": "<&>" * 166},
            )  # fmt: skip
            assert answer.status_code < 300, answer.text
            sent.append(answer.json()["id"])
        end = time.monotonic() + 120
        while client.get(f"/v1/submissions/{sent[-1]}").json()["state"] != "graded":
            assert time.monotonic() < end
            time.sleep(0.1)
        client.patch(f"/v1/runs/{run['id']}", json={"state": "closed"})
    return run, sent


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_part_of_a_long_run_names_the_same_final_submission(
    filled: Filled, long_run: tuple[dict[str, Any], list[str]]
) -> None:
    run, sent = long_run
    browser = visitor(filled.server, filled.researcher)
    first = browser.get(f"/runs/{run['id']}")
    second = browser.get(unescape(NEXT.search(first.text)[1]))  # type: ignore[index]
    results = caller(filled.server).get(f"/v1/competitions/{filled.slugs[0]}/results").json()
    (final,) = [one["submission"] for one in results["items"] if one["run"] == run["id"]]

    assert final == sent[-1]
    assert FINAL.findall(first.text) == []
    assert FINAL.findall(second.text) == [final]
    csv_first = rows_of(browser.get(f"{first.url.path}?format=csv").text)
    csv_second = rows_of(browser.get(f"{second.url}&format=csv").text)
    assert [row["submission"] for row in csv_first + csv_second] == sent
    assert [row["submission"] for row in csv_first + csv_second if row["final"] == "True"] == [
        final
    ]
    assert f"1 to {SUBMISSIONS} of {SUBMISSIONS + MORE} submissions" in first.text
    assert f"{SUBMISSIONS + 1} to {SUBMISSIONS + MORE} of" in second.text
    assert f"{SUBMISSIONS} of {SUBMISSIONS + MORE} submissions over the time" in first.text
    assert f'<a href="/runs/{run["id"]}">First page</a>' in second.text
    for page in (first, second):
        check_page(page)  # with long messages it is small, too
    beyond = browser.get(f"/runs/{run['id']}?cursor={sent[-1]}")
    assert "There are no more submissions." in beyond.text
    assert "First page" in beyond.text


def test_a_selected_submission_on_another_page_is_the_final_one(filled: Filled) -> None:
    run = new_run(filled, "selects-the-first")
    first, second = submit(filled, run), submit(filled, run)
    chosen = caller(filled.server).put(f"/v1/runs/{run['id']}/selected", json={"submission": first})
    assert chosen.status_code == 200, chosen.text
    browser = visitor(filled.server, filled.researcher)

    rows = rows_of(browser.get(f"/runs/{run['id']}?format=csv").text)
    after = rows_of(browser.get(f"/runs/{run['id']}?cursor={first}&format=csv").text)

    assert [(row["submission"], row["final"]) for row in rows] == [
        (first, "True"), (second, "False"),
    ]  # fmt: skip
    assert [(row["submission"], row["final"]) for row in after] == [(second, "False")]


def test_a_score_told_after_validations_is_on_the_page(filled: Filled) -> None:
    run = new_run(filled, "validates-often")
    own = {"Authorization": f"Bearer {run['key']}", "Content-Type": "text/csv"}
    data = good_submission(filled.folder(0), shift=0.1)
    client = caller(filled.server)
    for _ in range(VALIDATIONS):
        answer = client.post(f"/v1/runs/{run['id']}/validate", content=data, headers=own)
        assert answer.status_code == 200, answer.text
    sent = submit(filled, run)
    client.get(f"/v1/submissions/{sent}", headers={"Authorization": f"Bearer {run['key']}"})

    text = visitor(filled.server, filled.researcher).get(f"/runs/{run['id']}").text

    (row,) = ROW.findall(text)
    assert "private score" in row
    assert "no score" not in row
    assert f"{VALIDATIONS:,} validations" in text
    assert "Told to the harness" not in text


def test_what_a_harness_was_told_stands_apart(filled: Filled) -> None:
    admin = caller(filled.server)
    admin.post("/v1/experiments", json={"name": "by-harness", "agent": "a", "model": "m"})
    made = admin.post("/v1/keys", json={"role": "harness", "experiment": "by-harness"}).json()
    own = {"Authorization": f"Bearer {made['key']}", "Content-Type": "text/csv",
           "Prefer": "wait=60"}  # fmt: skip
    client = caller(filled.server)
    answer = client.post(
        f"/v1/competitions/{filled.slugs[1]}/grade?seed=77",
        content=good_submission(filled.folder(1), shift=0.2), headers=own,
    )  # fmt: skip
    assert answer.status_code < 300, answer.text
    run = next(
        one for one in client.get(
            f"/v1/runs?experiment=by-harness&competition={filled.slugs[1]}&limit=100"
        ).json()["items"] if one["seed"] == 77
    )  # fmt: skip
    exposure = client.get(f"/v1/runs/{run['id']}/exposure").json()
    browser = visitor(filled.server, filled.researcher)

    text = browser.get(f"/runs/{run['id']}").text
    (row,) = rows_of(browser.get(f"/runs/{run['id']}?format=csv").text)

    to_agent, to_harness = re.findall(r"<dt>Told to the (?:agent|harness)</dt><dd>(.*?)</dd>", text)
    assert "0 private scores" in to_agent
    assert f"{exposure['harness_totals']['private_scores']} private score" in to_harness
    assert exposure["harness_totals"]["private_scores"] == 1
    assert row["told"] == ""
    assert "private_score" in row["told_to_harness"].split()
    assert '<th scope="col">Told to the harness</th>' in text


def test_the_second_page_of_keys_leads_back(filled: Filled) -> None:
    client = caller(filled.server)
    for _ in range(KEYS):
        client.post("/v1/keys", json={"role": "researcher", "name": EVIL_NAME})
    admin = visitor(filled.server, filled.admin)
    first = admin.get("/operations/keys")
    second = admin.get(unescape(NEXT.search(first.text)[1]))  # type: ignore[index]

    check_page(first)
    assert re.search(rf"1 to {KEYS} of \d+ keys", first.text)
    assert re.search(rf"{KEYS + 1} to \d+ of \d+ keys", second.text)
    assert '<a href="/operations/keys">First page</a>' in second.text


def test_behind_the_end_of_a_list_a_page_says_so_and_leads_to_the_first(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    total = browser.get("/?format=json").json()["total"]
    for path, first in (
        ("/?page=99", "/"), ("/?sort=any_medal&page=99", "/?sort=any_medal"),
        ("/?q=agent&page=99", "/?q=agent"),
        ("/competitions?cursor=zzz", "/competitions"),
        (f"/competitions/{filled.slugs[0]}?page=99", f"/competitions/{filled.slugs[0]}"),
    ):  # fmt: skip
        page = browser.get(path)
        assert re.search(r"There are no more \w+\. <a href=\"([^\"]+)\">", page.text), path
        assert f'<a href="{first}">First page</a>' in page.text, path
        assert "yet" not in page.text, path
        check_page(page)
    assert browser.get("/?page=99&format=json").json()["total"] == total
