"""Boards as documents: whose row it is, which columns it has, and what the notes say."""

from __future__ import annotations

import csv
import io
from urllib.parse import quote

import httpx
import pyarrow.parquet as pq
import pytest

from tests.api.conftest import Podium
from tests.api.test_results import imported, podium  # noqa: F401

DEV = "suite=mle-bench-dev"
MARKDOWN = {"Accept": "text/markdown"}
CSV = {"Accept": "text/csv"}
PARQUET = {"Accept": "application/vnd.apache.parquet"}


def table_of(text: str) -> list[list[str]]:
    """The cells of the first table of a Markdown page, without its line of dashes."""
    lines = text.split("\n- ")[0].strip().splitlines()
    rows = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines]
    return [rows[0], *rows[2:]]


def board(podium: Podium, names: list[str], query: str = DEV) -> str:  # noqa: F811
    return f"/v1/medal-rates?{query}&experiments={','.join(names)}"


def test_each_row_of_a_board_says_which_experiment_it_is(podium: Podium) -> None:  # noqa: F811
    names = [podium.experiment() for _ in range(3)]  # of one agent and one model
    for name in names:
        path = f"/v1/experiments/{name}/grading-reports?seed=0"
        document = {"results": [{"competition_id": "spaceship-titanic", "score": None}]}
        assert podium.admin.post(path, json=document).status_code == 201
    path = f"/v1/medal-rates?experiments={','.join(names)}"
    header, *rows = table_of(podium.admin.get(path, headers=MARKDOWN).text)
    assert header[:3] == ["Experiment", "Agent", "LLM(s) used"]
    assert [row[0] for row in rows] == sorted(names)
    assert len({tuple(row[1:]) for row in rows}) == 1


def test_columns_are_chosen_and_put_in_order(podium: Podium) -> None:  # noqa: F811
    names = [imported(podium, 2, number, "mle-bench-low")[0] for number in (41, 42)]
    path = board(podium, names, "suite=mle-bench-low&group_by=complexity")
    found = podium.admin.get(path).json()["items"]
    chosen = "seeds,all.competitions95,experiment,low,all.gold,all.sem,all.bounds"
    text = podium.admin.get(f"{path}&columns={chosen}", headers=MARKDOWN).text
    header, *rows = table_of(text)
    assert header == [
        "Seeds", "All: competitions like these, 95 %", "Experiment", "Low == Lite (%)",
        "All: gold (%)", "All: seed SEM", "All: bounds",
    ]  # fmt: skip
    for row, one in zip(rows, found, strict=True):
        rates = one["groups"]["all"]
        low, high = rates["any_medal"]["competitions95"]
        assert row[:3] == ["2", f"{low:.2f} to {high:.2f}", one["experiment"]]
        assert row[4].startswith(f"{rates['gold']['mean']:.2f} ± ")
        assert row[5] == f"{rates['any_medal']['sem']:.2f}"
        assert row[6] == "nothing is missing"
    assert "(competitions95): 95 % interval of any medal, for the question" in text
    assert "(runs95)" not in text

    rows = list(csv.reader(io.StringIO(
        podium.admin.get(f"{path}&columns=rate,experiment,mean", headers=CSV).text
    )))  # fmt: skip
    assert rows[0] == ["rate", "experiment", "mean"]
    assert len(rows) == 1 + 7 * sum(len(one["groups"]) for one in found)
    kept = podium.admin.get(f"{path}&columns=mean&columns=rate", headers=PARQUET)
    assert pq.read_table(io.BytesIO(kept.content)).column_names == ["mean", "rate"]


def test_a_board_has_an_interval_for_each_question(podium: Podium) -> None:  # noqa: F811
    several, _ = imported(podium, 3, 45, "mle-bench-low")
    single, _ = imported(podium, 1, 46, "mle-bench-low")
    path = board(podium, [several, single], "suite=mle-bench-low&group_by=complexity")
    found = {one["experiment"]: one["groups"] for one in podium.admin.get(path).json()["items"]}
    text = podium.admin.get(path, headers=MARKDOWN).text
    header, *rows = table_of(text)
    assert header[3:] == [
        "Low == Lite (%)", "All (%)", "All: run again, 95 %",
        "All: competitions like these, 95 %", "Running Time (hours)", "Seeds",
    ]  # fmt: skip
    for row in rows:
        one = found[row[0]]["all"]["any_medal"]
        mean = f"{one['mean']:.2f}"
        low, high = one["competitions95"]
        assert row[4] == (mean if one["sem"] is None else f"{mean} ± {one['sem']:.2f}")
        assert row[6] == f"{low:.2f} to {high:.2f}"
        again = one["runs95"]
        assert row[5] == ("not known" if again is None else f"{again[0]:.2f} to {again[1]:.2f}")
    assert {row[0]: row[5] == "not known" for row in rows} == {several: False, single: True}
    for words in (
        "± seed SEM: over the totals of the seeds (ddof = 1), as in MLE-bench's README",
        "(runs95): 95 % interval of any medal, for the question where the rate would be if these",
        "(competitions95): 95 % interval of any medal, for the question where the rate would be at",
    ):
        assert text.count(words) == 1
    own = podium.admin.get(f"/v1/experiments/{several}/medal-rates", headers=MARKDOWN).text
    assert [cell for row in rows if row[0] == several for cell in row[5:7]] == table_of(own)[1][4:6]


def test_unequal_seeds_have_no_seed_sem_and_both_intervals(podium: Podium) -> None:  # noqa: F811
    name, _ = imported(podium, 2, 47, "mle-bench-low")
    path = f"/v1/experiments/{name}/grading-reports?seed=2"
    one = {"results": [{"competition_id": "spooky-author-identification", "score": 0.2}]}
    assert podium.admin.post(path, json=one).status_code == 201
    query = "suite=mle-bench-low&padding=available"
    (row,) = table_of(podium.admin.get(board(podium, [name], query), headers=MARKDOWN).text)[1:]
    assert "±" not in row[3]
    assert " to " in row[4]
    assert " to " in row[5]


@pytest.mark.parametrize(
    ("columns", "accept", "words"),
    [
        ("experiment,mean", MARKDOWN, ["no column 'mean'", "experiment, agent, model", "runs95"]),
        ("all.sme", MARKDOWN, ["no column 'all.sme'", ".sem"]),
        ("experiment,all", CSV, ["no column 'all'", "mean, sem, ci95_low"]),
        ("all", PARQUET, ["no column 'all'"]),
        ("experiment", {}, ["JSON has none to choose"]),
        (",", MARKDOWN, ["columns"]),
    ],
)
def test_an_unknown_column_is_refused_with_the_known_ones(
    podium: Podium, columns: str, accept: dict[str, str], words: list[str]  # noqa: F811
) -> None:  # fmt: skip
    name, _ = imported(podium, 1, 43, "mle-bench-dev")
    response = podium.admin.get(f"{board(podium, [name])}&columns={columns}", headers=accept)
    assert response.status_code == 422
    for each in words:
        assert each in response.json()["detail"]


def test_a_chosen_column_of_a_group_with_missing_results_is_marked(podium: Podium) -> None:  # noqa: F811
    name, _ = imported(podium, 1, 44, "mle-bench-low")
    query = "suite=mle-bench&padding=fail&columns=experiment,all.runs95,all.gold"
    text = podium.admin.get(board(podium, [name], query), headers=MARKDOWN).text
    (_, first, second) = table_of(text)[1]
    assert first.endswith("[a]")
    assert second.endswith("[a]")
    assert "missing results count as failures (padding=fail)" in text


@pytest.mark.parametrize("accept", ["application/json", *(each["Accept"] for each in
                                    (MARKDOWN, CSV, PARQUET))])  # fmt: skip
def test_each_form_of_a_page_leads_to_the_next(podium: Podium, accept: str) -> None:  # noqa: F811
    names = sorted(imported(podium, 1, number, "mle-bench-dev")[0] for number in (51, 52, 53))
    whole = [one["experiment"] for one in podium.admin.get(board(podium, names)).json()["items"]]
    found: list[str] = []
    # the parameter several times, as clients send lists
    path = f"/v1/medal-rates?{DEV}&limit=2" + "".join(f"&experiments={name}" for name in names)
    for shown, last in ((2, False), (1, True)):
        response = podium.admin.get(path, headers={"Accept": accept})
        page = experiments_in(response, accept)
        assert len(page) == shown
        found += page
        if accept == MARKDOWN["Accept"]:
            assert (f"- {shown} of 3 experiments: numbers " in response.text) is True
            assert ("; the next page: /v1/medal-rates?" in response.text) is not last
            assert (", the last page." in response.text) is last
        if last:
            assert "Link" not in response.headers
        else:
            assert list(response.links) == ["next"]
            path = response.links["next"]["url"]
            assert "limit=2" in path
            if accept == MARKDOWN["Accept"]:
                assert path in response.text
    assert found == whole


def experiments_in(response: httpx.Response, accept: str) -> list[str]:
    """The experiments of a board, in any form, in its order."""
    if accept == MARKDOWN["Accept"]:
        return [row[0] for row in table_of(response.text)[1:]]
    if accept == CSV["Accept"]:
        rows = list(csv.DictReader(io.StringIO(response.text)))
    elif accept == PARQUET["Accept"]:
        rows = pq.read_table(io.BytesIO(response.content)).to_pylist()
    else:
        assert response.json()["total"] == 3
        rows = response.json()["items"]
    return list(dict.fromkeys(row["experiment"] for row in rows))


def test_a_cursor_of_any_name_stands_in_the_header(podium: Podium) -> None:  # noqa: F811
    names = [f'名前, <の> & "{number}" {podium.experiment()}' for number in range(2)]
    for name in names:
        body = {"name": name, "agent": "a", "model": "m"}
        assert podium.admin.post("/v1/experiments", json=body).status_code == 201
        path = f"/v1/experiments/{quote(name)}/grading-reports?seed=0"
        document = {"results": [{"competition_id": "spaceship-titanic", "score": None}]}
        assert podium.admin.post(path, json=document).status_code == 201
    first = podium.admin.get("/v1/medal-rates", params={"experiments": names, "limit": 1})
    second = podium.admin.get(first.links["next"]["url"])
    shown = [one["experiment"] for page in (first, second) for one in page.json()["items"]]
    assert shown == names


def test_a_board_on_one_page_says_nothing_of_pages(podium: Podium) -> None:  # noqa: F811
    name, _ = imported(podium, 1, 54, "mle-bench-dev")
    response = podium.admin.get(board(podium, [name]), headers=MARKDOWN)
    assert "page" not in response.text
    assert "Link" not in response.headers
