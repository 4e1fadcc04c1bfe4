"""A row of MLE-bench's README, computed anew from the scores that its authors published.

famou_agent.csv has the scores of Famou-Agent's three grading reports of October 2025 (repository
openai/mle-bench, runs/fmagent_group1 to 3). It is the only row whose reports are public as text.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.api.test_results import podium, rates  # noqa: F401
from tests.grading_reports import entry, medal_lines, report

SCORES = Path(__file__).with_name("famou_agent.csv")
# README.md of MLE-bench, the row Famou-Agent: mean and standard error over the three seeds.
README = {
    "low": (62.12, 1.52), "medium": (36.84, 1.52), "high": (33.33, 0.00), "all": (43.56, 0.89),
}  # fmt: skip
# Gold, silver, bronze and above the median, of the three published reports.
TOTALS = [[18, 7, 7, 39], [16, 12, 6, 37], [17, 9, 6, 40]]


def seeds() -> list[list[dict[str, object]]]:
    """The entries of each seed's report, with medals by the medal lines that come with Podium."""
    lines = medal_lines()
    with SCORES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    made = {"none": False, "invalid": True}
    return [
        [
            entry(lines[row["competition"]], None, made[row[seed]])
            if row[seed] in made
            else entry(lines[row["competition"]], float(row[seed]))
            for row in rows
        ]
        for seed in ("seed 0", "seed 1", "seed 2")
    ]


def test_the_row_of_famou_agent_is_the_published_one(podium: Podium) -> None:  # noqa: F811
    name = podium.experiment()
    for seed, entries in enumerate(seeds()):
        path = f"/v1/experiments/{name}/grading-reports?seed={seed}"
        answer = podium.admin.post(path, json=report(entries))
        assert answer.status_code == 201, answer.text

    found = rates(podium, name, "suite=mle-bench&group_by=complexity").json()["groups"]
    whole = found["all"]
    shown = {
        group: (round(one["any_medal"]["mean"], 2), round(one["any_medal"]["sem"], 2))
        for group, one in found.items()
    }
    assert shown == README
    # The paper has 96.89 % valid submissions.
    assert round(whole["valid_submission"]["mean"], 2) == 96.89
    # Not in the README: these competitions, run again, worked out by hand from the 225 results.
    assert whole["any_medal"]["runs_sem"] == pytest.approx(1.60, abs=0.005)


def test_its_medals_are_those_of_the_published_reports() -> None:
    medals = ("gold_medal", "silver_medal", "bronze_medal", "above_median")
    assert [[sum(bool(one[name]) for one in seed) for name in medals] for seed in seeds()] == TOTALS
