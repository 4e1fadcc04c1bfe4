"""What commands say of results that they import: numbers, seeds, failures and mismatches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.test_mlagentbench_results import evaluation, key
from tests.api.test_success import baseline
from tests.cli.conftest import Command
from tests.factories import write_competition
from tests.grading_reports import entry, medal_lines, report
from tests.importers.test_mlagentbench_results import entry as run


def test_the_runs_of_an_evaluation_are_told_with_their_scores_and_failures(
    podium: Command, tmp_path: Path
) -> None:
    task = write_competition(tmp_path / "competitions" / "task", toml=baseline("0.5"),
                             leaderboard=None)  # fmt: skip
    assert podium("import", "folder", task).returncode == 0
    file = tmp_path / "results.json"
    file.write_text(json.dumps(evaluation()))
    words = ("import", "mlagentbench-results", "an-agent", file, "--competition", "task")

    made = podium(*words, "--seed", 4)
    more = {
        key(number): run(key(number), score=[0.2], score_steps=[], final_score=0.2)
        for number in (4, 5, 9)
    }
    alone = {key(9): more.pop(key(9))}
    file.write_text(json.dumps(evaluation(**more)))
    again = podium(*words, "--seed", 4)

    assert made.stdout == (
        "an-agent: 3 runs at task imported with 3 scores, 0 imported before; seeds 4 to 6; "
        "failures: 1 malformed_output, 1 out_of_memory; mismatches: 0\n"
    )
    assert again.stdout.startswith("an-agent: 2 runs at task imported with ")
    assert ", 3 imported before; seeds 4 to 8; failures: " in again.stdout
    file.write_text(json.dumps(alone))
    one = podium("import", "mlagentbench-results", "other", file, "--competition", "task")
    assert one.stdout.startswith("other: 1 run at task imported with ")
    assert one.stdout.endswith("; seeds 0 to 0; failures: none; mismatches: 0\n")


@pytest.fixture
def lines() -> dict[str, str]:
    """The medal lines of one competition, as if they were those of `tiny`."""
    return {**next(iter(medal_lines().values())), "slug": "tiny"}


def test_a_competition_that_occurs_again_has_the_next_seed_if_asked_for(
    podium: Command, tiny: Path, tmp_path: Path, lines: dict[str, str]
) -> None:
    assert podium("import", "folder", tiny).returncode == 0
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report([entry(lines, 0.5), entry(lines, 0.4)])))
    words = ("import", "grading-report", "twice", file, "--seed", 3)

    refused = podium(*words)
    done = podium(*words, "--repeats")

    assert refused.returncode == 1
    assert "tiny" in refused.stderr
    assert done.stdout.startswith("twice: 2 results imported, 0 before; seeds 3, 4; mismatches: ")


def test_twenty_mismatches_are_printed_with_what_the_report_lacks(
    podium: Command, tiny: Path, tmp_path: Path, lines: dict[str, str]
) -> None:
    assert podium("import", "folder", tiny).returncode == 0
    file = tmp_path / "report.json"
    document = report([entry(lines, 0.5 + number) for number in range(9)])
    del document["total_runs"]
    file.write_text(json.dumps(document))
    found = json.loads(
        podium("import", "grading-report", "one", file, "--repeats", "--json").stdout
    )
    done = podium("import", "grading-report", "other", file, "--repeats")

    mismatches = found["mismatches"]
    assert len(mismatches) > 21
    assert done.stdout.endswith(f"; mismatches: {len(mismatches)}\n")
    printed = [line for line in done.stderr.splitlines() if ": the file says " in line]
    assert len(printed) == 20
    assert f"{len(mismatches) - 20} more; --json lists all" in done.stderr
    (total,) = (one for one in mismatches if one["place"] == "total_runs")
    assert total["note"] == "the report has no such total"
    assert "(the report has no such total)" in done.stderr


def test_groups_that_go_into_an_archived_experiment_are_told_so(
    podium: Command, tiny: Path, tmp_path: Path, lines: dict[str, str]
) -> None:
    assert podium("import", "folder", tiny).returncode == 0
    group = tmp_path / "runs" / "2025-01-01_group"
    group.mkdir(parents=True)
    (group / "grading_report.json").write_text(json.dumps(report([entry(lines, 0.5)])))
    table = tmp_path / "run_group_experiments.csv"
    table.write_text(f"experiment_id,run_group\nold,{group.name}\n")
    words = ("import", "run-groups", table, group.parent)

    before = podium(*words)
    assert podium("experiments", "archive", "old", "--reason", "a leak").returncode == 0
    again = podium(*words)

    assert "archived" not in before.stderr
    assert "The experiment old is archived (a leak)" in again.stderr
