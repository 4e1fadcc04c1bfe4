"""Boards and their documents, as a researcher types them."""

from __future__ import annotations

import hashlib
import json

import pyarrow.parquet as pq
import pytest

from tests.grading_reports import suites
from tests.system.commands.conftest import Commands

DEV = ("--suite", "mle-bench-dev")


@pytest.fixture
def names(podium: Commands) -> list[str]:
    """Two experiments with results of two seeds."""
    found = ["first", "second"]
    for number, name in enumerate(found):
        for seed in range(2):
            slugs = suites()["mle-bench-dev"]
            podium.import_report(name, slugs, draw=10 * number + seed, seed=seed)
    return found


def test_columns_of_a_board(podium: Commands, names: list[str]) -> None:
    text = podium("report", *names, *DEV, "--columns", "all.runs95,experiment").stdout
    assert text.startswith("| All: run again, 95 % | Experiment |\n")
    one = podium("report", names[0], *DEV, "--columns", "experiment,seeds").stdout
    assert one.startswith("| Experiment | Seeds |\n| --- | --- |\n| first | 2 |\n")
    latex = podium("report", *names, *DEV, "--columns", "experiment,all", "--latex").stdout
    assert latex.splitlines()[2] == r"Experiment & All (\%) \\"
    rows = podium("report", *names, *DEV, "--columns", "mean,rate", "--csv").stdout
    assert rows.startswith("mean,rate\n")
    refused = podium("report", *names, *DEV, "--columns", "rate", status=1).stderr
    assert "there is no column 'rate'; there are experiment, agent" in " ".join(refused.split())
    refused = podium("report", *names, *DEV, "--columns", "experiment", "--json", status=1).stderr
    assert "JSON has none to choose" in refused
    refused = podium("report", names[0], "--columns", "experiment", "--success", status=1).stderr
    assert "--columns is for a board" in refused


def test_the_place_of_a_document_changes_none_of_its_bytes(
    podium: Commands, names: list[str]
) -> None:  # fmt: skip
    for form in ("latex", "markdown", "csv", "parquet", "json"):
        words = ("report", *names, *DEV, "--format", form)
        first, second = podium.home / "first", podium.home / "second"
        podium(*words, "--out", first)
        podium(*words, f"--out={second}", "--parquet", podium.home / "third")
        assert first.read_bytes() == second.read_bytes()
        if form != "parquet":
            assert podium(*words).stdout == first.read_text()


def test_every_form_has_the_same_origin(podium: Commands, names: list[str]) -> None:
    words = ("report", *names, *DEV)
    line = podium(*words).stdout.splitlines()[-1].removeprefix("- ")
    assert line.endswith(f"query: podium report {' '.join(names)} --suite mle-bench-dev")
    document = json.loads(podium(*words, "--json").stdout)["origin"]
    assert document["query"] == f"podium report {' '.join(names)} --suite mle-bench-dev --json"
    assert f"Podium {document['podium']}, data sha256:{document['data_sha256']}," in line

    file = podium.home / "rates.csv"
    podium(*words, "--csv", "--parquet", podium.home / "rates.parquet", "--out", file)
    beside = json.loads((podium.home / "rates.csv-metadata.json").read_text())
    assert (beside["@context"], beside["url"]) == ("http://www.w3.org/ns/csvw", "rates.csv")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert digest == document["data_sha256"]
    assert f"data sha256:{digest}, query: podium report" in beside["dc:provenance"]
    kept = pq.read_table(podium.home / "rates.parquet").schema.metadata[b"podium"].decode()
    assert kept == beside["dc:provenance"]
    # With chosen columns the digest is still that of all data.
    podium(*words, "--columns", "mean", "--csv", "--out", file)
    beside = json.loads((podium.home / "rates.csv-metadata.json").read_text())
    assert digest in beside["dc:provenance"]
    assert file.read_text().startswith("mean\n")


def test_a_row_of_latex_never_begins_with_what_ends_the_one_before(
    podium: Commands, names: list[str]
) -> None:  # fmt: skip
    for name, agent in zip(names, ("[2pt] agent", "* agent"), strict=True):
        podium("experiments", "amend", name, "--agent", agent, "--reason", "a test")
    table = podium("report", *names, *DEV, "--columns", "agent,experiment", "--latex").stdout
    rows = table[table.index("\\midrule\n") + 9 : table.index("\\bottomrule")].splitlines()
    assert sorted(rows) == [r"{}* agent & second \\", r"{}[2pt] agent & first \\"]


def test_agents_that_mislead_are_refused_by_commands(
    podium: Commands, names: list[str]
) -> None:  # fmt: skip
    for text in ("a\u202eb", " m "):
        words = ("experiments", "create", "one", "--agent", "a", "--model", text)
        assert "model: it" in podium(*words, status=1).stderr
        words = ("experiments", "amend", names[0], "--model", text, "--reason", "a test")
        assert "model: it" in podium(*words, status=1).stderr
