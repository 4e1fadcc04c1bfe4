"""Every statistic on results where little can be known: never a 500, never a number that is none.

Each address is asked in each form, for experiments without runs, with one seed, with one
competition, with all medals, with none, and beside themselves.
"""

from __future__ import annotations

import io
import json
import random
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from tests.api.conftest import Podium
from tests.api.degenerate_answers import ANSWERS, KINDS, beside, expected
from tests.api.test_results import add_run, close, podium  # noqa: F401
from tests.factories import good_submission
from tests.grading_reports import random_report, suites
from tests.server import PodiumServer

FORMS = ("application/json", "text/csv", "text/markdown", "application/vnd.apache.parquet")
LITE = suites()["mle-bench-low"]


def report_of(medal: str | None, slugs: tuple[str, ...] = LITE) -> dict[str, Any]:
    """A grading report in which each result wins the same medal, or nothing."""
    report = random_report(slugs, random.Random(3))
    for one in report["competition_reports"]:
        lower = bool(one["is_lower_better"])
        best, worst = (-1e12, 1e12) if lower else (1e12, -1e12)
        one["score"] = best if medal else worst
        one["submission_exists"] = one["valid_submission"] = True
        for name in ("gold_medal", "silver_medal", "bronze_medal"):
            one[name] = medal is not None and name.startswith(medal)
        one["any_medal"] = one["above_median"] = medal is not None
    return report


def imported(podium: Podium, report: dict[str, Any], seeds: int) -> str:  # noqa: F811
    name = podium.experiment()
    for seed in range(seeds):
        path = f"/v1/experiments/{name}/grading-reports?seed={seed}"
        assert podium.admin.post(path, json=report).status_code == 201
    return name


@pytest.fixture(scope="module")
def kinds_of() -> dict[PodiumServer, dict[str, str]]:
    """The experiments of each server: tests share them, and leave them as they were."""
    return {}


@pytest.fixture
def kinds(podium: Podium, kinds_of: dict[PodiumServer, dict[str, str]]) -> dict[str, str]:  # noqa: F811
    """Experiments at the limits of what statistics can say, by kind."""
    if podium.server not in kinds_of:
        kinds_of[podium.server] = make_kinds(podium)
    return kinds_of[podium.server]


def make_kinds(podium: Podium) -> dict[str, str]:  # noqa: F811
    folder = podium.competition()
    run = podium.experiment()
    add_run(podium, run, folder.name, 0).submit(good_submission(folder))
    empty = podium.experiment()
    close(podium, add_run(podium, empty, folder.name, 0))
    still_open = podium.experiment()
    add_run(podium, still_open, folder.name, 0)
    return {
        "nothing": podium.experiment(),
        "one run": run,
        "no submission": empty,
        "an open run": still_open,
        "one seed": imported(podium, random_report(LITE, random.Random(1)), 1),
        "all medals": imported(podium, report_of("gold"), 3),
        "no medal": imported(podium, report_of(None), 3),
        "one competition": imported(podium, random_report(LITE[:1], random.Random(2)), 3),
    }


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} in an answer")


def checked(response: httpx.Response, wanted: tuple[int, str]) -> bool:
    """Whether there is an answer, which has the status and the problem that are wanted."""
    status, problem = wanted
    assert response.status_code == status, f"{response.url}: {response.text}"
    if problem:
        document = response.json()
        assert document["type"] == f"/problems/{problem}", response.url
        assert document["detail"], response.url
    return not problem


def test_no_degenerate_result_is_an_error_of_ours(podium: Podium, kinds: dict[str, str]) -> None:  # noqa: F811
    assert tuple(kinds) == KINDS
    for kind, name in kinds.items():
        other = beside(kind)
        for address in ANSWERS:
            response = podium.admin.get(address.format(own=name, other=kinds[other]))
            document = json.loads(response.text, parse_constant=refuse_constant)
            if checked(response, expected(address, kind, other)):
                refuse_nonsense(document, address)


def refuse_nonsense(value: Any, where: str, key: str = "") -> None:
    """No rate outside 0 to 100, no interval that is upside down."""
    if isinstance(value, dict):
        for name, each in value.items():
            refuse_nonsense(each, where, name)
    elif isinstance(value, list):
        ends = len(value) == 2 and all(isinstance(each, int | float) for each in value)
        if ends and key.endswith("95"):
            assert value[0] <= value[1], (where, key, value)
            # A seed interval of the README may leave the range of a rate; all others are within.
            if key != "ci95" or "compare" in where:
                least = -100 if "compare" in where else 0
                assert least - 1e-9 <= value[0] <= value[1] <= 100 + 1e-9, (where, key, value)
        for each in value:
            refuse_nonsense(each, where, key)


@pytest.mark.parametrize("form", FORMS[1:])
def test_every_form_of_a_degenerate_result_can_be_read(
    podium: Podium, kinds: dict[str, str], form: str  # noqa: F811
) -> None:  # fmt: skip
    for kind in ("one run", "no medal"):
        for address in (one for one in ANSWERS if one.partition("padding=")[2] in ("", "fail")):
            response = podium.admin.get(
                address.format(own=kinds[kind], other=kinds["all medals"]),
                headers={"Accept": form},
            )
            if not checked(response, expected(address, kind, "all medals")):
                continue
            assert response.headers["Content-Type"].startswith(form), address
            if form == FORMS[3]:
                pq.read_table(io.BytesIO(response.content))
            else:
                assert "nan" not in response.text.lower().split(), address


def test_what_is_said_where_nothing_varies(podium: Podium, kinds: dict[str, str]) -> None:  # noqa: F811
    best, worst = kinds["all medals"], kinds["no medal"]
    found = podium.admin.get(f"/v1/compare?a={best}&b={worst}").json()
    assert (found["difference"], found["detectable"], found["p"]) == (100.0, None, None)
    items = podium.admin.get(f"/v1/suites/mle-bench-low/items?experiments={best},{worst}").json()
    assert {one["verdict"] for one in items["items"]} == {None}
    assert {one["slope"] for one in items["items"]} == {None}
    same = podium.admin.get(f"/v1/suites/mle-bench-low/items?experiments={best}").json()
    assert {one["verdict"] for one in same["items"]} == {"everybody"}
    rate = podium.admin.get(f"/v1/experiments/{best}/medal-rates").json()["groups"]["all"]["gold"]
    assert rate["mean"] == 100.0
    assert rate["runs95"][0] < rate["runs95"][1] == 100.0
    one = podium.admin.get(f"/v1/experiments/{kinds['one seed']}/medal-rates").json()
    assert one["groups"]["all"]["any_medal"]["runs95"] is None
    refusal = podium.admin.get(f"/v1/experiments/{kinds['one seed']}/pass-at-k?k=2")
    assert (refusal.status_code, "from 1 to 1" in refusal.text) == (422, True)


@pytest.mark.parametrize(
    "name", ["a/b", ".", "..", "a\u202eb", "a\u200fb", " a", "a ", "e\u0301", "a\nb", "x" * 201]
)
def test_names_that_mislead_are_refused_everywhere(podium: Podium, name: str) -> None:  # noqa: F811
    body = {"name": name, "agent": "a", "model": "m"}
    assert podium.admin.post("/v1/experiments", json=body).status_code == 422


def test_strange_names_are_shown_as_they_are(podium: Podium) -> None:  # noqa: F811
    names = ["50 % of a|b & {c}", "עברית", "名前, の", '"quoted" <b>']
    for name in names:
        body = {"name": name, "agent": name, "model": "m"}
        assert podium.admin.post("/v1/experiments", json=body).status_code == 201
        path = f"/v1/experiments/{name.replace('%', '%25')}"
        sent = podium.admin.post(f"{path}/grading-reports?seed=0", json=report_of("gold"))
        assert sent.status_code == 201, sent.text
        for kind in ("medal-rates", "scores?padding=fail", "pass-at-k"):
            for form in FORMS[:3]:
                response = podium.admin.get(f"{path}/{kind}", headers={"Accept": form})
                assert response.status_code == 200, response.text
    found = podium.admin.get("/v1/compare", params={"experiments": names}).json()
    assert {one["experiment"] for one in found["experiments"]} == set(names)
