"""The page of an experiment at which no medal can be won has its success against baselines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import WAIT, make_researcher_key, packed
from tests.api.test_success import measured
from tests.factories import BOARD, good_submission, write_competition
from tests.server import PodiumServer
from tests.web.conftest import caller, visitor
from tests.web.test_crawl import check_page

BASELINE = '[baseline]\nscore = 0.5\nsource = "starter code"\n'
MIXED = ("with-baseline-1", "with-baseline-2")
SUITES = """
[suites.board]
title = "A human leaderboard"
competitions = ["with-board"]
[suites.unsent]
title = "A competition without results"
competitions = ["with-board", "with-baseline-2"]
[suites.baselines]
title = "No human leaderboard"
competitions = ["with-baseline-1"]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodiumServer]:
    """A server with two competitions that have a baseline, and one with neither."""
    home = tmp_path_factory.mktemp("success")
    (home / "suites").mkdir()
    (home / "suites" / "suites.toml").write_text(SUITES)
    server = PodiumServer(home / "data", competitions_dir=home / "suites").start()
    for name, toml in (
        *((each, BASELINE) for each in MIXED),
        ("with-nothing", ""),
        ("with-board", ""),
    ):
        board = BOARD if name == "with-board" else None
        folder = write_competition(home / name, leaderboard=board, toml=toml)
        archive = {"archive": (f"{name}.tar.gz", packed(folder), "application/gzip")}
        assert caller(server).post("/v1/competitions", files=archive).status_code == 201
    make_experiment(server, home, "improved", {MIXED[0]: [0.1, 0.7], MIXED[1]: [0.2, 0.3]})
    make_experiment(server, home, "one", {MIXED[0]: [0.1]})
    make_experiment(server, home, "unsent", {MIXED[0]: [None]})
    make_experiment(server, home, "nothing", {"with-nothing": [0.1]})
    make_experiment(server, home, "both", {MIXED[0]: [0.1], "with-board": [0.9]})
    make_experiment(server, home, "half", {MIXED[0]: [0.1, None]})
    yield server
    assert server.stop() == 0


def make_experiment(
    server: PodiumServer, home: Path, name: str, errors: dict[str, list[Any]]
) -> None:
    """An experiment with a run for each of these errors; None is a run without a submission."""
    admin = caller(server)
    body = {"name": name, "agent": "a", "model": "m"}
    assert admin.post("/v1/experiments", json=body).status_code == 201
    for slug, each in errors.items():
        for seed, error in enumerate(each):
            wanted = {"experiment": name, "competition": slug, "seed": seed}
            run = admin.post("/v1/runs", json=wanted).json()
            if error is not None:
                answer = admin.post(
                    f"/v1/runs/{run['id']}/submissions",
                    content=good_submission(home / slug, shift=error),
                    headers={**WAIT, "Authorization": f"Bearer {run['key']}"},
                )
                assert answer.json()["state"] == "graded", answer.text


def shown(server: PodiumServer, path: str) -> str:
    answer = visitor(server, make_researcher_key(server)).get(path)
    assert answer.status_code == 200
    check_page(answer)
    return answer.text


def cells(text: str, name: str) -> list[list[str]]:
    """The texts of the cells of a table, by line; the first line is the header."""
    (table,) = re.findall(f'aria-label="Table of {name}".*?</table>', text, re.DOTALL)
    lines = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in lines]
    return [[re.sub(r"<[^>]*>", "", cell) for cell in line] for line in found]


def test_rates_are_those_of_the_api(server: PodiumServer) -> None:
    rates = caller(server).get("/v1/experiments/improved/success-rates?group_by=competition")
    groups = rates.json()["groups"]
    text = shown(server, "/experiments/improved")
    found = cells(text, "success rates")[1:]

    assert [line[0] for line in found] == [*MIXED, "all"]
    for name, runs, success, again, alike, ever, improvement in found:
        group = groups[name]
        rate = group["success_rate"]
        assert int(runs) == group["runs"]
        assert success == f"{rate['mean']:.1f} ± {rate['sem']:.1f}"
        for written, known in ((again, rate["runs95"]), (alike, rate["competitions95"])):
            assert written == ("–" if known is None else "{:.1f} to {:.1f}".format(*known))
        assert float(ever) == round(group["ever_success_rate"]["mean"], 1)
        assert float(improvement.removesuffix(" %")) == round(
            100 * group["average_improvement"]["mean"], 1
        )
    assert [line[2].split()[0] for line in found] == ["50.0", "100.0", "75.0"]
    assert "<b>75.0 %</b> of runs" in text
    assert "graded: 4" in text
    assert "the median" not in text


def test_one_competition_has_no_line_for_all(server: PodiumServer) -> None:
    _, line = cells(shown(server, "/experiments/one"), "success rates")
    assert line[0] == MIXED[0]


def test_the_json_of_the_page_has_the_rates(server: PodiumServer) -> None:
    browser = visitor(server, make_researcher_key(server))
    facts = {
        name: browser.get(f"/experiments/{name}?format=json").json()["success"]
        for name in ("improved", "unsent", "nothing")
    }

    assert [one["success_rate"]["mean"] for one in facts["improved"]] == [50.0, 100.0, 75.0]
    assert facts["unsent"] is None
    assert facts["nothing"] is None


@pytest.mark.parametrize("name", ["unsent", "nothing"])
def test_an_experiment_without_rates_says_so(server: PodiumServer, name: str) -> None:
    text = shown(server, f"/experiments/{name}")

    assert "There are no medal rates" in text
    assert "Success against baselines</h2>" not in text


LEGENDS = {
    "improved": "graded",
    "nothing": "graded",
    "both": "graded, not above the median or without one",
}


@pytest.mark.parametrize("name", LEGENDS)
def test_a_result_is_compared_with_a_median_only_where_there_is_one(
    server: PodiumServer, name: str
) -> None:
    text = shown(server, f"/experiments/{name}")
    (legend,) = re.findall(r'aria-label="Legend">(.*?)</ul>', text, re.DOTALL)
    words = re.findall(r"</span> (.*?): \d+", legend)
    cells = re.findall(r'href="/runs/[^"]*" title="([^,"]*)', text)
    browser = visitor(server, make_researcher_key(server))
    picture = browser.get(f"/experiments/{name}/heat-map.vl.json").text

    assert words[0] == LEGENDS[name]
    assert f"· {LEGENDS[name]}" in picture
    assert re.search(rf"\d {LEGENDS[name]}[.;]", picture)
    assert set(cells) == {"graded"}
    assert ("not above the median" in text) == (name == "both")
    assert ("0 medals at" in text) == (name == "both")


def test_the_page_names_the_command_only_where_it_has_rates(server: PodiumServer) -> None:
    command = "podium report --success --baselines known"

    assert command in shown(server, "/experiments/both")
    assert "podium report" not in shown(server, "/experiments/nothing")


def test_runs_that_rates_against_baselines_leave_out_are_counted(
    server: PodiumServer, tmp_path: Path
) -> None:
    assert "1 of 2 runs is not in these rates" in shown(server, "/experiments/half")
    assert "not in these rates" not in shown(server, "/experiments/improved")


def test_the_rates_as_json_are_those_of_the_page_and_its_suite(server: PodiumServer) -> None:
    text = shown(server, "/experiments/both?suite=board")
    (link,) = re.findall(r'href="([^"]*)">All rates as JSON', text)
    answer = caller(server).get(html.unescape(link))

    assert answer.status_code == 200, answer.text
    groups = answer.json()["groups"]
    assert groups["all"]["above_median"]["mean"] == 0.0
    assert "above the median 0.0 %" in text
    assert "All rates as JSON" not in shown(server, "/experiments/both?suite=unsent")


@pytest.mark.parametrize("page", ["", "/items"])
def test_a_board_does_not_deny_results_that_it_cannot_count(
    server: PodiumServer, page: str
) -> None:
    text = shown(server, f"/suites/baselines{page}")

    assert "No experiment has a result at these competitions that can be counted so." in text


def test_a_submission_names_its_success_and_no_medal(server: PodiumServer) -> None:
    admin = caller(server)
    leads = []
    for name in ("improved", "nothing"):
        for run in admin.get("/v1/runs", params={"experiment": name}).json()["items"]:
            (sent,) = admin.get(f"/v1/runs/{run['id']}/submissions").json()["items"]
            text = shown(server, f"/submissions/{sent['id']}")
            (lead,) = re.findall(r'<p class="lead">(.*?)</p>', text)
            leads.append(re.sub(r"<[^>]*>", "", lead))

    assert sorted(leads) == [
        "Score 0.1",
        "Score 0.1: a success against the baseline",
        "Score 0.2: a success against the baseline",
        "Score 0.3: a success against the baseline",
        "Score 0.7: no success against the baseline",
    ]


def test_attempts_and_submissions_have_their_improvement_in_place_of_places(
    server: PodiumServer,
) -> None:
    admin = caller(server)
    results = admin.get(f"/v1/competitions/{MIXED[1]}/results").json()["items"]
    attempts = cells(shown(server, f"/competitions/{MIXED[1]}"), "attempts")
    of_run = cells(shown(server, f"/runs/{results[0]['run']}"), "submissions")

    assert attempts[0][3:5] == ["Improvement", "Against the baseline"]
    assert [line[2:6] for line in attempts[1:]] == [
        ["0.2", "+60.0 %", "success", "graded"],
        ["0.3", "+40.0 %", "success", "graded"],
    ]
    assert [round(one["improvement"], 9) for one in results] == [0.6, 0.4]
    assert of_run[0][5:7] == attempts[0][3:5]
    assert of_run[1][5:7] == ["+60.0 %", "success"]


def test_without_a_baseline_they_have_places(server: PodiumServer) -> None:
    header, line = cells(shown(server, "/competitions/with-nothing"), "attempts")

    assert header[3:6] == ["Medal", "Place", "Percentile"]
    assert line[3:6] == ["–", "–", "–"]


def test_a_run_shows_the_scores_that_its_harness_measured(
    server: PodiumServer, tmp_path: Path
) -> None:
    admin = caller(server)
    folder = measured(tmp_path / "stopwatch", up=False, score="2")
    archive = {"archive": ("stopwatch.tar.gz", packed(folder), "application/gzip")}
    assert admin.post("/v1/competitions", files=archive).status_code == 201
    make_experiment(server, tmp_path, "timed", {"stopwatch": [None]})
    (run,) = admin.get("/v1/runs", params={"experiment": "timed"}).json()["items"]
    before = shown(server, f"/runs/{run['id']}")
    for step in range(1, 53):
        report = {"score": 4 / step, "evidence": {"file": "x"}, "step": step, "final": step == 4}
        answer = admin.post(f"/v1/runs/{run['id']}/reported-scores", json=report)
        assert answer.status_code == 201, answer.text
    text = shown(server, f"/runs/{run['id']}")
    browser = visitor(server, make_researcher_key(server))
    facts = browser.get(f"/runs/{run['id']}?format=json").json()["reported"]
    header, *lines = cells(text, "reported scores")

    assert "A harness measures its score" in before
    assert "Reported scores" not in before
    assert "The first 50 of 52 scores" in text
    assert header[1:] == [
        "Step", "Time in the run", "Score", "Improvement", "Against the baseline", "Final",
    ]  # fmt: skip
    assert [line[1:] for line in lines[:4]] == [
        ["1", "–", "4", "-100.0 %", "no success", "–"],
        ["2", "–", "2", "0.0 %", "no success", "–"],
        ["3", "–", "1.33333", "+33.3 %", "success", "–"],
        ["4", "–", "1", "+50.0 %", "success", "final"],
    ]
    assert (len(lines), len(facts)) == (50, 50)
    assert facts[3] | {"reported_at": ""} == {
        "score": 1.0, "step": 4, "run_seconds": None, "final": True, "reported_at": "",
        "improvement": 0.5, "success": True,
    }  # fmt: skip

    closed = admin.patch(f"/v1/runs/{run['id']}", json={"state": "closed"})
    assert closed.status_code == 200
    map_of_runs = shown(server, "/experiments/timed")
    assert "reported by a harness, not graded: 1" in map_of_runs
    assert "no graded result" not in map_of_runs
    assert "not in these rates" not in map_of_runs
    assert "Success against its baseline in <b>100.0 %</b>" in map_of_runs
