"""Pages of archived subjects have the time and the reason."""

from __future__ import annotations

import re

import pytest

from tests.web.conftest import caller, visitor
from tests.web.dataset import Filled
from tests.web.test_crawl import check_page
from tests.web.test_live import new_run, submit

WHY = "<b>a wrong split</b>"
SAID = re.compile(r'<p class="warn">\w+ .*? was archived at .*?</p>', re.DOTALL)


@pytest.fixture(scope="module")
def archived_run(filled: Filled) -> str:
    """A run of an experiment that is archived afterwards."""
    run: dict[str, str] = new_run(filled, "to-archive")
    submit(filled, run)
    with filled.server.client() as admin:
        body = {"reason": WHY}
        assert admin.post("/v1/experiments/to-archive/archive", json=body).is_success
    return run["id"]


def said(filled: Filled, path: str) -> list[str]:
    answer = visitor(filled.server, filled.researcher).get(path)
    check_page(answer)
    return SAID.findall(answer.text)


def test_an_archived_experiment_says_so_on_its_pages_and_on_those_of_its_runs(
    filled: Filled, archived_run: str
) -> None:
    found = caller(filled.server).get(f"/v1/runs/{archived_run}/submissions").json()
    submission = found["items"][0]["id"]
    for path in (
        "/experiments/to-archive", f"/runs/{archived_run}", "/experiments/to-archive/receipts",
        "/experiments/to-archive/medals-over-time", f"/submissions/{submission}",
        "/compare?a=to-archive&b=careful-agent", "/compare?a=careful-agent&b=to-archive",
    ):  # fmt: skip
        (line,) = said(filled, path)
        assert "Experiment" in line, path
        assert "&lt;b&gt;a wrong split&lt;/b&gt;" in line, path
        assert "<time datetime=" in line, path
    browser = visitor(filled.server, filled.researcher)
    twin = browser.get("/experiments/to-archive?format=json").json()
    assert [(one["kind"], one["reason"]) for one in twin["archived"]] == [("experiment", WHY)]
    assert said(filled, "/experiments/careful-agent") == []


def test_an_archived_run_says_so(filled: Filled) -> None:
    run = new_run(filled, "has-an-archived-run")
    body = {"reason": WHY}
    assert caller(filled.server).post(f"/v1/runs/{run['id']}/archive", json=body).is_success

    (line,) = said(filled, f"/runs/{run['id']}")

    assert f"Run {run['id']} was archived at" in line


def test_an_archived_competition_is_named_where_it_leaves_the_rates(filled: Filled) -> None:
    slug = filled.slugs[-1]
    run = next(run for run in filled.runs if run["competition"] == slug)
    admin = caller(filled.server)
    body = {"reason": WHY}
    assert admin.post(f"/v1/competitions/{slug}/archive", json=body).is_success
    try:
        for path in (f"/competitions/{slug}", f"/runs/{run['id']}", "/experiments/careful-agent"):
            (line,) = said(filled, path)
            assert f'Competition <a href="/competitions/{slug}">{slug}</a> was archived' in line
        text = visitor(filled.server, filled.researcher).get("/experiments/careful-agent").text
        assert f'<th scope="row"><a href="/competitions/{slug}">' not in text
    finally:
        assert admin.post(f"/v1/competitions/{slug}/restore", json=body).is_success
    assert said(filled, f"/competitions/{slug}") == []


def test_the_form_keeps_an_archived_experiment_and_names_as_they_are(
    filled: Filled, archived_run: str
) -> None:
    admin = caller(filled.server)
    admin.post("/v1/experiments", json={"name": "with_lines_below", "agent": "a", "model": "m"})
    browser = visitor(filled.server, filled.researcher)

    for query in ("a=to-archive", "a=to-archive&b=careful-agent&rate=gold"):
        text = browser.get(f"/compare?{query}").text
        assert '<option value="to-archive" selected>to-archive</option>' in text
        assert '<option value="with_lines_below">with_lines_below</option>' in text
        assert '">above median</option>' in text
    assert "to-archive" not in browser.get("/compare?format=json").json()["experiments"]
