"""Imports of results, and their amendments, as a researcher types them."""

from __future__ import annotations

import csv
import io
import json
import random
import statistics

import pyarrow.parquet as pq
from scipy import stats

from tests.grading_reports import ROOT, random_report, suites
from tests.system.commands.conftest import Commands


def any_medal(reports: list[dict], suite: str) -> str:
    wanted = set(suites()[suite])
    shares = [
        100 * statistics.fmean(e["any_medal"] for e in one["competition_reports"]
                               if e["competition_id"] in wanted)
        for one in reports
    ]  # fmt: skip
    return f"{statistics.fmean(shares):.2f} ± {stats.sem(shares):.2f}"


def test_run_groups_become_an_experiment_and_its_row(podium: Commands) -> None:
    runs = podium.home / "runs"
    made, rows = [], []
    for day in (3, 1, 2):
        group = f"2025-01-0{day}_run-group_agent"
        document = random_report(suites()["mle-bench"], random.Random(day))
        made.append(document)
        rows.append(f"an-agent,{group}")
        (runs / group).mkdir(parents=True)
        (runs / group / "2025-02_grading_report.json").write_text(json.dumps(document))
    (runs / group / "2025-01_grading_report.json").write_text("{}")
    complete = list(rows)
    rows.append("an-agent,2025-01-09_lost")
    table = podium.home / "run_group_experiments.csv"
    table.write_text("\n".join(["experiment_id,run_group", *rows]) + "\n")

    done = podium("import", "run-groups", table, runs, "--json")
    (found,) = json.loads(done.stdout)
    assert (found["taken"]["imported"], found["taken"]["seeds"]) == (225, [0, 1, 2])
    assert found["taken"]["mismatches"] == []
    assert [problem.split(":")[0] for problem in found["problems"]] == [group, "2025-01-09_lost"]
    again = json.loads(podium("import", "run-groups", table, runs, "--json").stdout)
    assert again[0]["taken"]["unchanged"] == 225

    (runs / "lost").mkdir()
    (runs / "lost" / "grading_report_group_1.json").write_text(
        "version https://git-lfs.github.com/spec/v1\n"
    )
    table.write_text(table.read_text() + "lost-agent,lost\n")
    both = podium("import", "run-groups", table, runs, status=1)
    assert "lost-agent: nothing was imported" in both.stderr
    assert "225 before" in both.stdout
    podium("import", "run-groups", table, runs, "--experiment", "an-agent")
    rows = [f"{name},{group}" for name in ("a/b", "n" * 201, "\u202egro")]
    rows += [f"with-typo,{group}", "with-typo,typo"]
    (runs / "typo").mkdir()
    typo = [{"competition_id": "leaf-clasification", "score": None}]
    (runs / "typo" / "grading_report.json").write_text(json.dumps(typo))
    table.write_text("\n".join(["experiment_id,run_group", *rows]) + "\n")
    mixed = podium("import", "run-groups", table, runs, status=1)
    assert mixed.stdout.startswith("with-typo: 75 results imported")
    assert mixed.stderr.count("nothing was imported") == 3
    assert "typo: The grading report is refused" in mixed.stderr
    assert mixed.stderr.endswith("did you mean 'leaf-classification'?\n")
    for other in ("other-agent", "third-agent"):
        table.write_text(
            "experiment_id,run_group\n"
            + "\n".join(row.replace("an-agent", other) for row in complete)
            + "\n"
        )
        podium("import", "run-groups", table, runs)
    names = ("an-agent", "other-agent", "third-agent")
    both = podium("report", *names, "--suite", "mle-bench").stdout
    assert "All experiments over the same 75 competitions." in both
    assert all(f"| {name} | {name} | not told |" in both for name in names)
    found = json.loads(podium("compare", *names, "--json").stdout)
    assert {one["letters"] for one in found["experiments"]} == {"a"}
    assert [pair["simultaneous95"] for pair in found["pairs"]] == [None] * 3
    assert "| an-agent (%) | other-agent (%) |" in podium("compare", *names[:2]).stdout
    assert "not 'gld'" in podium("compare", *names, "--rate", "gld", status=1).stderr

    text = podium("report", "an-agent", "--suite", "mle-bench").stdout
    cells = [any_medal(made, f"mle-bench{s}") for s in ("-low", "-medium", "-high", "")]
    assert f"| an-agent | an-agent | not told | {' | '.join(cells)} |" in text
    document = json.loads(podium("report", "an-agent", "--json").stdout)
    assert (document["seeds"], document["competitions"]) == (3, 75)
    file = podium.home / "rates.parquet"
    printed = podium("report", "an-agent", "--csv", "--parquet", file).stdout
    lines = list(csv.DictReader(io.StringIO(printed)))
    kept = pq.read_table(file).to_pylist()
    assert [list(row) for row in kept] == [list(line) for line in lines]
    assert [row["rate"] for row in kept] == [line["rate"] for line in lines]
    assert len(lines) == 4 * 7


def test_a_report_of_one_file(podium: Commands) -> None:
    file = podium.home / "grading_report.json"
    document = random_report(suites()["mle-bench-low"], random.Random(4))
    document["total_medals"] += 1
    file.write_text(json.dumps(document))
    done = podium("import", "grading-report", "one", file, "--seed", 7)
    assert "22 results imported" in done.stdout
    assert "total_medals: the file says" in done.stderr
    assert "One seed" in podium("report", "one").stdout
    refusal = podium("report", "one", "--suite", "mle-bench", status=1)
    assert "padding=fail" in refusal.stderr.replace("\n", " ")
    file.write_text("<<<<<<< HEAD")
    assert "line 1, column 1" in podium("import", "grading-report", "one", file, status=1).stderr


def test_a_malformed_evaluation_makes_no_experiment(podium: Commands) -> None:
    vectorization = "mlagentbench-vectorization"
    podium("import", "folder", ROOT / "competitions" / vectorization)
    file = podium.home / "results.json"
    file.write_text('{"logs/a/trace.json": {"final_score": NaN, "score": []}}')
    words = ("import", "mlagentbench-results", "new", file, "--competition", vectorization)
    assert "NaN is not a number" in podium(*words, status=1).stderr
    assert "no experiment" in podium("report", "new", status=1).stderr


def test_an_experiment_is_amended_and_an_import_withdrawn(podium: Commands) -> None:
    file = podium.home / "report.json"
    file.write_text(json.dumps(random_report(suites()["mle-bench-dev"], random.Random(1))))
    podium("import", "grading-report", "one", file)
    podium("experiments", "amend", "one", "--model", "m-2", "--hours", 24, "--cost-usd", 1.5,
           "--reason", "it was not told")  # fmt: skip
    done = podium("experiments", "withdraw-imports", "one", "--seed", 0, "--reason", "wrong split")
    assert done.stdout == "withdrew 7 imported results of one\n"
    found = json.loads(podium("experiments", "amendments", "one", "--json").stdout)
    assert [one["kind"] for one in found] == ["amended", "withdrawn"]
    assert found[0]["before"]["model"] == "not told"
    assert found[0]["after"]["resources"] == {"hours": 24.0, "cost_usd": 1.5}
    assert "wrong split" in podium("experiments", "amendments", "one").stdout
    assert podium("import", "grading-report", "one", file).stdout.startswith("one: 7 results")
    podium("experiments", "amend", "one", "--reason", "nothing", status=1)
    receipt = podium("receipts", "issue", "one", "--padding", "fail").stdout.strip()
    saved = podium.home / "saved"
    podium("receipts", "save", receipt, saved)
    keys = ("--allowed-signers", saved / "allowed_signers")
    said = podium("verify", saved / "receipt.json", *keys).stdout
    assert "imported: 7\nwithdrawn: 7\n" in said


def test_a_refused_import_makes_no_experiment(podium: Commands) -> None:
    report = podium.home / "grading_report.json"
    report.write_text("{}")
    podium("import", "grading-report", "new", report, status=1)
    for name, lines in (("none", ""), ("unknown", '{"competition_id": "nope"}\n')):
        (podium.home / name).mkdir()
        (podium.home / name / "submission.jsonl").write_text(lines)
        podium("import", "submissions", "new", podium.home / name, status=1)
    assert "new" not in podium("experiments", "list").stdout
