"""Rates of success, further statistics and plans, as a researcher types them."""

from __future__ import annotations

import csv
import io
import json
import statistics

import pyarrow.parquet as pq
import pytest

from tests.grading_reports import ROOT, suites
from tests.system.commands.conftest import Commands


def test_runs_are_closed_in_bulk(podium: Commands) -> None:
    podium("import", "folder", ROOT / "competitions" / "bike-sharing-demand")
    podium.import_report("bulk", suites()["mle-bench-dev"], draw=5, seed=100)
    podium("runs", "create", "--experiment", "bulk", "--suite", "podium", "--seeds", 2)
    podium("report", "bulk", "--suite", "podium", status=1)
    done = podium("runs", "close", "--experiment", "bulk", "--failure", "out_of_memory", "--json")
    assert len(json.loads(done.stdout)["closed"]) == 2
    text = podium("report", "bulk", "--suite", "podium", "--json").stdout
    found = json.loads(text)["groups"]["all"]
    assert found["made_submission"]["per_seed"] == [0.0, 0.0]


def test_success_against_baselines(podium: Commands) -> None:
    vectorization = "mlagentbench-vectorization"
    podium("import", "folder", ROOT / "competitions" / vectorization)
    file = podium.home / "results.json"
    seconds = {"logs/a/trace.json": 3.0, "logs/b/trace.json": 6.0, "logs/c/trace.json": -1}
    file.write_text(
        json.dumps(
            {
                key: {
                    "final_score": final, "score": [final] if final > 0 else [], "score_steps": [],
                    "submitted_final_answer": final > 0, "total_time": 60.0, "error": "",
                    "extra": {"oom_error": False},
                }
                for key, final in seconds.items()
            }
        )
    )  # fmt: skip
    words = ("import", "mlagentbench-results", "an-agent", file, "--competition", vectorization)
    assert "3 runs at mlagentbench-vectorization imported with 2 scores" in podium(*words).stdout
    again = json.loads(podium(*words, "--json").stdout)
    assert (again["imported"], again["unchanged"], again["seeds"]) == (0, 3, [0, 1, 2])

    text = podium("report", "an-agent", "--suite", "mlagentbench").stdout
    assert f"| {vectorization} | 3 | 0 / 0 / 2 | 33.3 ± 33.3 |" in text
    assert "Baseline of mlagentbench-vectorization: 6.1742" in text
    assert "mlagentbench-imdb (no run)" in text
    document = json.loads(podium("report", "an-agent", "--threshold", "0.02", "--json").stdout)
    found = document["groups"][vectorization]
    assert found["success_rate"]["mean"] == pytest.approx(200 / 3)
    gains = [(6.1742 - final) / 6.1742 for final in (3.0, 6.0)]
    assert found["average_improvement"]["mean"] == pytest.approx(statistics.fmean(gains))
    rates = podium.home / "success.parquet"
    lines = podium("report", "an-agent", "--success", "--csv", "--parquet", rates).stdout
    groups = [line["group"] for line in csv.DictReader(io.StringIO(lines))]
    assert groups == [row["group"] for row in pq.read_table(rates).to_pylist()]
    medals = podium("report", "an-agent", "--medals", status=1).stderr
    assert "no human leaderboard" in medals.replace("\n", " ")
    refusal = podium("report", "an-agent", "--medals", "--threshold", "0.1", status=1)
    assert "leave out --medals" in " ".join(refusal.stderr.split())
    refusal = podium("report", "an-agent", "--medals", "--baselines", "known", status=1)
    assert "leave out --medals" in " ".join(refusal.stderr.split())
    for words in (("--success",), ("--threshold", "0.1"), ("--baselines", "known")):
        refusal = podium("report", "an-agent", *words, "--group-by", "tag", status=1)
        assert "--group-by is for medal rates" in " ".join(refusal.stderr.split())
    known = json.loads(podium("report", "an-agent", "--baselines", "known", "--json").stdout)
    assert list(known["groups"]) == ["all", vectorization]
    grouped = podium("report", "an-agent", "--group-by", "tag", status=1).stderr
    assert "no human leaderboard" in grouped.replace("\n", " ")


def test_further_statistics_in_a_terminal(podium: Commands) -> None:
    slugs = suites()["mle-bench-dev"]
    for name, number in (("one", 1), ("two", 2)):
        for seed in range(2):
            podium.import_report(name, slugs, draw=10 * number + seed, seed=seed)
    shared = ("--suite", "mle-bench-dev", "--padding", "fail")
    found = json.loads(podium("scores", "one", "--against", "two", *shared, "--json").stdout)
    assert found["attempts"] == 2 * len(slugs)
    assert found["against"]["experiment"] == "two"
    assert "only medal lines" in podium("scores", "one", status=1).stderr
    table = podium("pass-at-k", "one", *shared, "-k", "1,2").stdout
    assert table.count("\n| ") == 3
    refused = podium("pass-at-k", "one", *shared, "-k", "3", status=1)
    assert "k is from 1 to 2" in refused.stderr
    for k in ("x", "1000000"):
        refused = podium("pass-at-k", "one", "-k", k, status=1)
        assert "-k takes whole numbers of at most 6 digits" in " ".join(refused.stderr.split())
    rows = list(csv.DictReader(io.StringIO(podium("items", "mle-bench-dev", "--csv").stdout)))
    assert [row["competition"] for row in rows] == sorted(slugs)
    refused = podium("curve", "one", status=1)  # imported results have no times
    assert "There is no result of invasive-species-monitoring" in refused.stderr
    for at in ("x", "nan", "inf", "-inf", "-1", "1,-0.5", "1,nan", "1e12"):
        refused = podium("curve", "one", f"--at={at}", "--padding", "fail", status=1)
        assert "--at takes numbers from 0" in refused.stderr
        assert refused.stdout == ""


def test_a_plan_from_stated_spreads(podium: Commands) -> None:
    words = ("plan", "--between", 20, "--within", 35, "--competitions", "22,75", "--seeds", "1,3")
    found = json.loads(podium(*words, "--json").stdout)
    assert [(one["competitions"], one["seeds"]) for one in found["sizes"]] == [
        (22, 1), (22, 3), (75, 1), (75, 3),
    ]  # fmt: skip
    assert "not known" in podium(*words).stdout
    assert "two experiments" in podium("plan", status=1).stderr
    assert "whole numbers" in podium("plan", "--seeds", "x", status=1).stderr
