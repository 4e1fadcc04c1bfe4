"""Percentiles of experiments over HTTP and in a terminal."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.api.test_results import add_run, close, podium  # noqa: F401
from tests.factories import good_submission
from tests.grading_reports import random_report, suites


def scores(podium: Podium, name: str, query: str = "", accept: str = ""):  # noqa: F811
    headers = {"Accept": accept} if accept else {}
    return podium.admin.get(f"/v1/experiments/{name}/scores?{query}", headers=headers)


def played(podium: Podium, folders: list[Path], shifts: list[list[float | None]]) -> str:  # noqa: F811
    """An experiment whose runs are wrong by these amounts; None submits nothing."""
    name = podium.experiment()
    for folder, row in zip(folders, shifts, strict=True):
        for seed, shift in enumerate(row):
            run = add_run(podium, name, folder.name, seed)
            if shift is not None:
                run.submit(good_submission(folder, shift=shift))
            close(podium, run)
    return name


def test_percentiles_of_runs_are_summarised(podium: Podium) -> None:  # noqa: F811
    folders = [podium.competition(), podium.competition()]
    name = played(podium, folders, [[0.0, 0.35], [0.2, None]])
    other = played(podium, folders, [[0.6, 0.6], [0.6, 0.6]])
    found = scores(podium, name, f"against={other}&target=90").json()

    listed = [
        podium.admin.get(f"/v1/competitions/{folder.name}/results?percentile=mid-rank").json()
        for folder in folders
    ]
    own = [
        [row["percentile"] or 0.0 for row in one["items"] if row["experiment"] == name]
        for one in listed
    ]
    theirs = [
        [row["percentile"] for row in one["items"] if row["experiment"] == other] for one in listed
    ]
    means = [statistics.fmean(row) for row in own]
    assert found["mean"]["value"] == pytest.approx(statistics.fmean(means))
    assert found["median"]["value"] == pytest.approx(statistics.median(means))
    flat = sorted(value for row in own for value in row)
    assert found["iqm"]["value"] == pytest.approx(statistics.fmean(flat[1:3]))
    gap = statistics.fmean(max(0.0, 90 - value) for value in flat)
    assert found["optimality_gap"]["value"] == pytest.approx(gap)
    assert (found["attempts"], found["unplaced"], found["target"]) == (4, [], 90.0)
    pairs = [
        100 * statistics.fmean((x > y) + 0.5 * (x == y) for x in xs for y in ys)
        for xs, ys in zip(own, theirs, strict=True)
    ]
    assert found["probability_better"]["value"] == pytest.approx(statistics.fmean(pairs))
    assert found["against"]["experiment"] == other

    table = scores(podium, name, f"against={other}", "text/markdown").text
    assert "interquartile mean" in table
    assert f"P(better than {other})" in table
    lines = scores(podium, name, "", "text/csv").text.splitlines()
    assert lines[0].startswith("experiment,against,suite,padding,percentile,statistic,above,value")
    assert len(lines) == 1 + 4 + 20
    assert scores(podium, name, f"against={name}").status_code == 422
    assert scores(podium, name, "target=101").status_code == 422
    assert scores(podium, "nobody").status_code == 404


def test_a_score_without_a_place_is_refused_or_listed(podium: Podium) -> None:  # noqa: F811
    """Imported results of competitions of which there are only medal lines, or nothing."""
    import random

    name = podium.experiment()
    report = random_report(suites()["mle-bench-dev"], random.Random(5))
    answer = podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed=0", json=report)
    assert answer.status_code == 201, answer.text
    valid = [one for one in report["competition_reports"] if one["valid_submission"]]
    assert valid
    refused = scores(podium, name, "suite=mle-bench-dev")
    assert refused.status_code == 409
    assert len(refused.json()["missing"]) == len(valid)
    assert "only medal lines" in refused.json()["detail"]
    padded = scores(podium, name, "suite=mle-bench-dev&padding=fail").json()
    assert len(padded["unplaced"]) == len(valid)
    assert (padded["mean"]["value"], padded["mean"]["runs95"]) == (0.0, None)
    assert "that have no percentile count" in scores(
        podium, name, "suite=mle-bench-dev&padding=fail", "text/markdown"
    ).text  # fmt: skip
    for padding in ("available", "complete"):
        answer = scores(podium, name, f"suite=mle-bench-dev&padding={padding}")
        assert answer.status_code == 409
        assert len(answer.json()["missing"]) == len(valid)


def test_a_plan_takes_its_spreads_from_two_experiments(podium: Podium) -> None:  # noqa: F811
    import random

    names = []
    for number in (1, 2):
        name = podium.experiment()
        for seed in range(3):
            report = random_report(suites()["mle-bench"], random.Random(10 * number + seed))
            podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed={seed}", json=report)
        names.append(name)
    query = f"experiments={','.join(names)}&suite=mle-bench&seeds=3,30&power=0.8"
    found = podium.admin.get(f"/v1/plan?{query}").json()
    assert [(one["competitions"], one["seeds"]) for one in found["sizes"]] == [(75, 3), (75, 30)]
    few, many = (one["these_competitions"] for one in found["sizes"])
    assert few / many == pytest.approx(10**0.5, rel=0.02)
    assert [one["experiment"] for one in found["basis"]] == names
    stated = f"between={found['between']}&within={found['within']}"
    again = podium.admin.get(f"/v1/plan?{stated}&competitions=75&seeds=3,30").json()
    assert again["sizes"] == found["sizes"]
    table = podium.admin.get(f"/v1/plan?{query}", headers={"Accept": "text/markdown"}).text
    assert "| 75 | 30 |" in table
    two = f"experiments={names[0]},{names[1]}"
    for wrong in (
        "seeds=3", "between=3", f"{stated}&{two}", f"experiments={names[0]}",
        f"{stated}&competitions=0", f"{stated}&seeds=x",
    ):  # fmt: skip
        assert podium.admin.get(f"/v1/plan?{wrong}").status_code == 422, wrong
    assert podium.admin.get(f"/v1/plan?experiments={names[0]},nobody").status_code == 404


def test_a_plan_says_where_it_finds_no_possible_difference(podium: Podium) -> None:  # noqa: F811
    address = "/v1/plan?between=90&within=90&seeds=2&competitions=2"
    (size,) = podium.admin.get(address).json()["sizes"]
    assert min(size["these_competitions"], size["competitions_like_these"]) > 100
    assert size["these_too_few"]
    assert size["like_these_too_few"]
    text = podium.admin.get(address, headers={"Accept": "text/markdown"}).text
    assert "| 2 | 2 | more than 100 | more than 100 |" in text
    assert "no difference of two rates is so large" in text
    header, row = podium.admin.get(address, headers={"Accept": "text/csv"}).text.splitlines()
    assert header.endswith(",between,within,these_too_few,like_these_too_few")
    assert row.endswith(",True,True")
