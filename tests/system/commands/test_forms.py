"""The forms of results: LaTeX, Markdown, CSV, Parquet, JSON and pictures, with their origin."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as pq

from tests.grading_reports import suites
from tests.system.commands.conftest import Commands

LOW = suites()["mle-bench-low"]


def test_a_board_as_latex_has_its_origin_and_the_same_bytes_again(podium: Commands) -> None:
    names = ["50% of a_b & {c} \\x $y$ #1 ~^", "plain"]
    for number, name in enumerate(names):
        for seed in range(2):
            podium.import_report(name, LOW, draw=10 * number + seed, seed=seed)
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
    podium.import_report("plain", LOW, draw=99, seed=1)
    assert podium(*words).stdout.splitlines()[-1] != last
    podium("report", "plain", "--latex", "--success", status=1)


def test_each_command_of_results_writes_all_five_forms(podium: Commands) -> None:
    for number, name in enumerate(("a_b", "other")):
        for seed in range(2):
            podium.import_report(name, LOW, draw=number + 7 * seed, seed=seed)
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
        podium.import_report(name, slugs, draw=number)
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
