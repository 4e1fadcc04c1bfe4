"""The numbers in pictures are those of the JSON, for every kind."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import quote

import pytest

from app.pictures.charts import CHARTS
from app.pictures.outcomes import OUTCOMES
from tests.web.conftest import caller, visitor
from tests.web.dataset import Filled

ADDRESSES = {
    "medal-rates": "/suites/tiny/medal-rates",
    "leaderboard": "/competitions/tiny-03/leaderboard",
    "medals-over-time": "/experiments/careful-agent/medals-over-time",
    "comparison": f"/comparison?a=careful-agent&b={quote('quick agent & co')}",
    "cost": "/cost",
    "heat-map": "/experiments/careful-agent/heat-map",
}
PAGES = Path(__file__).parents[2] / "docs" / "pages.md"


def data_of(filled: Filled, kind: str, query: str = "") -> list[dict[str, Any]]:
    """Every row of data in the specification, of all its layers."""
    path, _, own = ADDRESSES[kind].partition("?")
    answer = visitor(filled.server, filled.researcher).get(f"{path}.vl.json?{own or query}")
    assert answer.status_code == 200, answer.text
    return [row for rows in answer.json()["datasets"].values() for row in rows]


def v1(filled: Filled, path: str) -> Any:
    answer = caller(filled.server).get(f"/v1{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def with_fields(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [row for row in rows if set(names) <= set(row)]


def test_every_kind_has_an_address_here() -> None:
    assert set(ADDRESSES) == set(CHARTS)


@pytest.mark.parametrize("kind", sorted(ADDRESSES))
def test_the_numbers_as_csv_are_those_that_are_drawn(filled: Filled, kind: str) -> None:
    path, _, own = ADDRESSES[kind].partition("?")
    answer = visitor(filled.server, filled.researcher).get(f"{path}.csv?{own}")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    drawn = {str(value) for row in data_of(filled, kind) for value in row.values()}

    assert rows
    numbers = {
        value
        for row in rows
        for name, value in row.items()
        if value and name not in ("a", "b", "rate", "part")
    }
    assert numbers <= drawn


def test_medal_rates(filled: Filled) -> None:
    rows = data_of(filled, "medal-rates")
    items = v1(filled, "/medal-rates?suite=tiny&padding=fail")["items"]

    drawn = {row["experiment"]: row for row in with_fields(rows, "any_medal")}
    for item in items:
        rates, row = item["groups"]["all"], drawn[item["experiment"]]
        assert row["any_medal"] == rates["any_medal"]["mean"]
        assert [row["low"], row["high"]] == (rates["any_medal"]["runs95"] or [None, None])
        stacked = [one for one in rows if one.get("experiment") == item["experiment"]]
        for medal in ("gold", "silver", "bronze"):
            assert rates[medal]["mean"] in [o["rate"] for o in stacked if o.get("medal") == medal]


def test_leaderboard(filled: Filled) -> None:
    rows = data_of(filled, "leaderboard")
    items = v1(filled, "/competitions/tiny-03/results")["items"]
    lines = v1(filled, "/competitions/tiny-03/leaderboard")

    attempts = [(row["place"], row["score"]) for row in with_fields(rows, "experiment", "place")]
    assert sorted(attempts) == sorted(
        (item["better"] + 1, item["score"]) for item in items if item["better"] is not None
    )
    board = {row["place"]: row["score"] for row in rows if set(row) == {"place", "score"}}
    assert board == dict(enumerate(lines["scores"], 1))
    drawn = {row["line"]: row["score"] for row in with_fields(rows, "line")}
    assert drawn
    assert all(lines[name] == score for name, score in drawn.items())


def test_medals_over_time(filled: Filled) -> None:
    rows = data_of(filled, "medals-over-time", "padding=available")
    found = v1(filled, "/experiments/careful-agent/medals-over-time?padding=available")

    drawn = {
        (row["choice"], row["at"]): (row["any_medal"], row["low"], row["high"]) for row in rows
    }
    told = {
        (choice, point["at"]): (
            point["any_medal"],
            *(point["any_medal_runs95"] or point["any_medal_competitions95"] or (None, None)),
        )
        for choice, points in found["points"].items()
        for point in points
    }
    assert drawn == told
    assert len(drawn) > 4
    assert any(low is not None for _, low, _ in drawn.values())


def test_the_page_of_medals_over_time_has_the_intervals(filled: Filled) -> None:
    path = "/experiments/careful-agent/medals-over-time?padding=available"
    text = visitor(filled.server, filled.researcher).get(path).text
    found = v1(filled, path)

    for points in found["points"].values():
        for point in points:
            low, high = point["any_medal_runs95"] or point["any_medal_competitions95"]
            assert f">{point['any_medal']:.1f} ({low:.1f} to {high:.1f})</td>" in text
    for one in found["regret"].values():
        low, high = one["runs95"]
        assert f'>{one["regret"]:.1f}</td><td class="n">{low:.1f} to {high:.1f}</td>' in text


def caption(filled: Filled, kind: str, query: str = "") -> str:
    """The caption of a picture."""
    path, _, own = ADDRESSES[kind].partition("?")
    answer = visitor(filled.server, filled.researcher).get(f"{path}.vl.json?{own or query}")
    return " ".join(answer.json()["title"]["subtitle"])


def test_captions_say_how_missing_results_count(filled: Filled) -> None:
    for padding, words in (
        ("fail", r"\b[1-9]\d* results? .*missing (and|results) count as failures\."),
        (
            "available",
            r"\b[1-9]\d* results? .*missing (and|results) are left out: each competition",
        ),
    ):
        for kind in ("medal-rates", "medals-over-time"):
            found = caption(filled, kind, f"padding={padding}")
            assert re.search(words, found), found
    assert re.search(r"\d+ seeds? each|\d to \d seeds each", caption(filled, "medal-rates"))
    absent = sum(
        len(
            v1(filled, f"/experiments/{quote(name, safe='')}/medal-rates?padding=available")[
                "missing"
            ]
        )
        for name in filled.experiments
    )
    words = rf"\d seeds? each\. .* {absent} results? .*missing (and|results) are left out: each"
    assert re.search(words, caption(filled, "cost"))


def test_the_caption_counts_attempts_beyond_the_drawing(filled: Filled) -> None:
    rows = with_fields(data_of(filled, "leaderboard"), "experiment", "score", "beyond")
    path = ADDRESSES["leaderboard"]
    numbers = visitor(filled.server, filled.researcher).get(f"{path}.csv").text

    outside = [row["score"] for row in rows if row["beyond"]]
    assert len(outside) == 1
    assert "1 attempt is beyond the drawing" in caption(filled, "leaderboard")
    assert f",{outside[0]!r}," in numbers


def test_the_heat_map_has_the_words_of_its_page(filled: Filled) -> None:
    page = visitor(filled.server, filled.researcher).get("/experiments/careful-agent").text
    legend = re.findall(r'<span class="cell (\w+)"[^>]*>[^<]*</span> ([^<]+): \d+</li>', page)
    words = {state: unescape(text) for state, text in legend}

    assert len(words) > 3
    assert words == {state: OUTCOMES[state] for state in words}
    assert 'heat-map.csv"' in page
    counts, _, rate = caption(filled, "heat-map").partition(": ")[2].partition(". ")
    assert {count.split(" ", 1)[1] for count in counts.split("; ")} <= set(OUTCOMES.values())
    shown = re.search(r"<b>([\d.]+) %</b> of attempts \(95 %: ([\d.]+ to [\d.]+)\)", page)
    assert shown is not None
    words = "95 % interval for these competitions, run again"
    assert rate == f"Any medal: {shown[1]} % of the results; {words}: {shown[2]}."


def test_comparison(filled: Filled) -> None:
    rows = with_fields(data_of(filled, "comparison"), "competition", "a", "b")
    names = f"a=careful-agent&b={quote('quick agent & co')}"
    found = v1(filled, f"/compare?{names}&padding=available")

    assert len(rows) == found["competitions"]
    assert mean(row["a"] for row in rows) == pytest.approx(found["a_mean"])
    assert mean(row["b"] for row in rows) == pytest.approx(found["b_mean"])


def test_cost(filled: Filled) -> None:
    drawn = {row["experiment"]: row for row in data_of(filled, "cost")}

    for name in filled.experiments:
        path = f"/experiments/{quote(name, safe='')}"
        rates = v1(filled, f"{path}/medal-rates?padding=available")["groups"]["all"]["any_medal"]
        runs = v1(filled, f"/runs?experiment={quote(name, safe='')}&limit=1000")["items"]
        costs = [run["usage"]["cost_usd"] for run in runs if run["usage"]]
        assert drawn[name]["any_medal"] == pytest.approx(rates["mean"])
        assert [drawn[name]["low"], drawn[name]["high"]] == pytest.approx(rates["runs95"])
        assert drawn[name]["cost"] == pytest.approx(mean(costs))


def test_heat_map(filled: Filled) -> None:
    rows = with_fields(data_of(filled, "heat-map"), "competition", "seed", "state")
    cells = {(row["competition"], row["seed"]): row["state"] for row in rows}

    assert len(cells) == len(filled.slugs) * 3
    for slug in filled.slugs:
        for item in v1(filled, f"/competitions/{slug}/results")["items"]:
            if item["experiment"] != "careful-agent":
                continue
            state = cells[slug, item["seed"]]
            medals = ("gold", "silver", "bronze")
            assert item["medal"] == (state if state in medals else None)
            assert (item["state"] == "settled") == (state not in ("pending", "failed"))


def test_the_notebook_of_the_docs_draws(
    filled: Filled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it saves a file
    block = re.search(r"```python\n(.*?)```", PAGES.read_text(), re.DOTALL)
    assert block is not None
    known: dict[str, Any] = {
        "url": filled.server.url,
        "key": filled.researcher,
        "name": "careful-agent",
    }
    code = re.sub(r'^(url|key|name) = ".*"$', "", block[1], flags=re.MULTILINE)
    exec(compile(code, "docs/pages.md", "exec"), known)
    assert known["picture"].to_dict()["title"]["text"] == "careful-agent"
    assert known["own"].to_dict()["layer"]
