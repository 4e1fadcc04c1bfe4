"""`podium report` and the imports of results, as a researcher types them."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import statistics
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from scipy import stats

from tests.forkserver import run_podium
from tests.grading_reports import ROOT, random_report, suites


class Commands:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PODIUM_")},
            "PODIUM_DATA_DIR": str(home / "data"),
            "PODIUM_COMPETITIONS_DIR": str(ROOT / "competitions"),
        }

    def __call__(self, *words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = run_podium(
            words,
            env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done


@pytest.fixture
def podium(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


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
    (runs / "lost" / "grading_report_group_1.json").write_text("version https://git-lfs.github")
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
    assert "did you mean 'leaf-classification'" in mixed.stderr
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


def test_runs_are_closed_in_bulk(podium: Commands) -> None:
    podium("import", "folder", ROOT / "competitions" / "bike-sharing-demand")
    file = podium.home / "grading_report.json"
    file.write_text(json.dumps(random_report(suites()["mle-bench-dev"], random.Random(5))))
    podium("import", "grading-report", "bulk", file, "--seed", 100)
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


def test_a_malformed_evaluation_makes_no_experiment(podium: Commands) -> None:
    vectorization = "mlagentbench-vectorization"
    podium("import", "folder", ROOT / "competitions" / vectorization)
    file = podium.home / "results.json"
    file.write_text('{"logs/a/trace.json": {"final_score": NaN, "score": []}}')
    words = ("import", "mlagentbench-results", "new", file, "--competition", vectorization)
    assert "NaN is no number" in podium(*words, status=1).stderr
    assert "no experiment" in podium("report", "new", status=1).stderr


def test_further_statistics_in_a_terminal(podium: Commands) -> None:
    slugs = suites()["mle-bench-dev"]
    for name, number in (("one", 1), ("two", 2)):
        for seed in range(2):
            file = podium.home / "report.json"
            file.write_text(json.dumps(random_report(slugs, random.Random(10 * number + seed))))
            podium("import", "grading-report", name, file, "--seed", seed)
    shared = ("--suite", "mle-bench-dev", "--padding", "fail")
    found = json.loads(podium("scores", "one", "--against", "two", *shared, "--json").stdout)
    assert found["attempts"] == 2 * len(slugs)
    assert found["against"]["experiment"] == "two"
    assert "only medal lines" in podium("scores", "one", status=1).stderr
    table = podium("pass-at-k", "one", *shared, "-k", "1,2").stdout
    assert table.count("\n| ") == 3
    refused = podium("pass-at-k", "one", *shared, "-k", "3", status=1)
    assert "k is from 1 to 2" in refused.stderr
    assert "-k takes whole numbers" in podium("pass-at-k", "one", "-k", "x", status=1).stderr
    rows = list(csv.DictReader(io.StringIO(podium("items", "mle-bench-dev", "--csv").stdout)))
    assert [row["competition"] for row in rows] == sorted(slugs)
    refused = podium("curve", "one", status=1)  # imported results have no times
    assert "There is no result of invasive-species-monitoring" in refused.stderr
    for at in ("x", "nan", "inf", "-inf", "-1", "1,-0.5", "1,nan", "1e12"):
        refused = podium("curve", "one", f"--at={at}", "--padding", "fail", status=1)
        assert "--at takes numbers from 0" in refused.stderr
        assert refused.stdout == ""


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


def test_a_plan_from_stated_spreads(podium: Commands) -> None:
    words = ("plan", "--between", 20, "--within", 35, "--competitions", "22,75", "--seeds", "1,3")
    found = json.loads(podium(*words, "--json").stdout)
    assert [(one["competitions"], one["seeds"]) for one in found["sizes"]] == [
        (22, 1), (22, 3), (75, 1), (75, 3),
    ]  # fmt: skip
    assert "not known" in podium(*words).stdout
    assert "two experiments" in podium("plan", status=1).stderr
    assert "whole numbers" in podium("plan", "--seeds", "x", status=1).stderr


def test_a_board_as_latex_has_its_origin_and_the_same_bytes_again(podium: Commands) -> None:
    names = ["50% of a_b & {c} \\x $y$ #1 ~^", "plain"]
    for number, name in enumerate(names):
        for seed in range(2):
            file = podium.home / "report.json"
            document = random_report(suites()["mle-bench-low"], random.Random(10 * number + seed))
            file.write_text(json.dumps(document))
            podium("import", "grading-report", name, file, "--seed", seed)
    words = ("report", *names, "--suite", "mle-bench-low", "--latex")
    table = podium(*words).stdout
    rates = json.loads(podium("report", *names, "--suite", "mle-bench-low", "--json").stdout)
    body = table[table.index("\\midrule\n") + 9 : table.index("\\bottomrule")].splitlines()
    assert len(body) == 2
    escaped = (
        r"50\% of a\_b \& \{c\} \textbackslash{}x \$y\$ \#1 \textasciitilde{}\textasciicircum{}"
    )
    by_agent = {line.split(" & ")[1]: line for line in body}
    for item in rates["items"]:
        one = item["groups"]["all"]["any_medal"]
        line = by_agent[escaped if item["agent"] == names[0] else "plain"]
        assert f"{one['mean']:.2f} $\\pm$ {one['sem']:.2f}" in line
        assert line.count(" & ") == 8
    last = table.splitlines()[-1]
    assert last.startswith("% Podium ")
    assert "data sha256:" in last
    assert "--suite mle-bench-low --latex" in last
    assert podium(*words).stdout == table
    podium("experiments", "withdraw-imports", "plain", "--seed", 1, "--reason", "another result")
    file.write_text(json.dumps(random_report(suites()["mle-bench-low"], random.Random(99))))
    podium("import", "grading-report", "plain", file, "--seed", 1)
    assert podium(*words).stdout.splitlines()[-1] != last
    podium("report", "plain", "--latex", "--success", status=1)


def test_each_command_of_results_writes_all_five_forms(podium: Commands) -> None:
    for number, name in enumerate(("a_b", "other")):
        for seed in range(2):
            file = podium.home / "report.json"
            document = random_report(suites()["mle-bench-low"], random.Random(number + 7 * seed))
            file.write_text(json.dumps(document))
            podium("import", "grading-report", name, file, "--seed", seed)
    to = podium.home / "out"
    for words in (
        ("report", "a_b"), ("compare", "a_b", "other"), ("items", "mle-bench-low"),
        ("pass-at-k", "a_b", "-k", "1,2"), ("plan", "--between", 20, "--within", 35,
         "--competitions", 22),
    ):  # fmt: skip
        podium(*words, "--format", "latex", "--out", to)
        text = to.read_text()
        assert text.count("\\begin{tabular}") == text.count("\\bottomrule") >= 1
        assert "a_b" not in text.split("% Podium")[0]
        for table in text.split("\\begin{tabular}{")[1:]:
            lines = table.splitlines()
            columns = len(lines[0].rstrip("}"))
            rows = [line for line in lines if line.endswith("\\\\")]
            assert {row.count(" & ") for row in rows} == {columns - 1}
        origin = text.splitlines()[-1]
        assert origin.startswith("% Podium ")
        if words[0] not in ("report", "items"):
            continue
        podium(*words, "--format", "markdown", "--out", to)
        last = to.read_text().splitlines()[-1]
        assert last.split(", query")[0].removeprefix("- ") == origin.split(", query")[0][2:]
        rows = list(csv.DictReader(io.StringIO(podium(*words, "--format", "csv").stdout)))
        podium(*words, "--format", "parquet", "--out", to)
        table = pq.read_table(to)
        assert len(rows) == table.num_rows > 0
        digest = origin.split("sha256:")[1][:64]
        assert digest in table.schema.metadata[b"podium"].decode()
        assert json.loads(podium(*words, "--format", "json").stdout)
    podium("report", "a_b", "--format", "latex", "--json", status=1)
    podium("report", "a_b", "--format", "word", status=2)
    assert "padding=fail" in podium(
        "report", "a_b", "other", "--suite", "mle-bench", "--padding", "fail", "--format", "latex"
    ).stdout.replace("\\", "")
    refused = podium("selection", "a_b", "--padding", "fail", status=1).stderr
    assert "nothing was chosen" in refused


def test_a_picture_has_its_numbers_beside_it(podium: Commands) -> None:
    slugs = suites()["mle-bench-dev"]
    for name, number in (("one", 1), ("two", 2)):
        file = podium.home / "report.json"
        file.write_text(json.dumps(random_report(slugs, random.Random(number))))
        podium("import", "grading-report", name, file)
    plot = ("plot", "comparison", "one", "two", "--suite", "mle-bench-dev", "--out")

    told = podium(*plot, podium.home / "both.vl.json").stdout

    assert "1 seed each. Nothing is missing." in told
    rows = list(csv.DictReader(io.StringIO((podium.home / "both.csv").read_text())))
    assert {(row["a"], row["b"]) for row in rows} == {("one", "two")}
    assert sorted(row["competition"] for row in rows) == sorted(slugs)
    drawn = json.loads((podium.home / "both.vl.json").read_text())["datasets"]
    shares = {row["share_a"] for row in rows} | {row["share_b"] for row in rows}
    assert shares <= {str(value) for part in drawn.values() for row in part
                      for value in row.values()}  # fmt: skip
    refused = podium(*plot, podium.home / "nowhere" / "both.svg", status=1).stderr
    assert "there is no folder" in refused
    one = ("plot", "comparison", "one", "--out", podium.home / "both.svg")
    assert "comparison takes 2 names, and 1 is given." in podium(*one, status=1).stderr
    same = ("plot", "comparison", "one", "one", "--out", podium.home / "both.svg")
    assert "Compare an experiment with another one." in podium(*same, status=1).stderr
    (podium.home / "folder.vl.json").mkdir()
    refused = podium(*plot, podium.home / "folder.vl.json", status=1).stderr
    assert "folder.vl.json cannot be written: Is a directory." in refused


def test_a_refused_import_makes_no_experiment(podium: Commands) -> None:
    report = podium.home / "grading_report.json"
    report.write_text("{}")
    podium("import", "grading-report", "new", report, status=1)
    for name, lines in (("none", ""), ("unknown", '{"competition_id": "nope"}\n')):
        (podium.home / name).mkdir()
        (podium.home / name / "submission.jsonl").write_text(lines)
        podium("import", "submissions", "new", podium.home / name, status=1)
    assert "new" not in podium("experiments", "list").stdout
