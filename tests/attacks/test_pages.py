"""What others write reaches readers of pages as a text, in their spreadsheets too."""

from __future__ import annotations

import csv
import io
import re

import httpx
import pytest

from app.reports.document.tables import to_spreadsheet_csv
from app.web.page_data.formats import as_csv
from tests.api.conftest import WAIT, Podium
from tests.factories import good_submission

FORMULA = "=cmd|'/C calc'!A0"
ADDED = re.compile(r"""\A'(?='*[\t\r\n])|(\A|[;\t\r\n]"*)'(?='*[=+\-@])""")  # the `'` of a text


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "＝"])
def test_a_note_is_no_formula_in_the_csv_of_a_page(podium: Podium, begin: str) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    note = begin + FORMULA
    headers = {"X-Podium-Message": note.encode()}
    sent = run.client.post(
        f"/v1/runs/{run.id}/submissions",
        content=good_submission(folder),
        headers={**WAIT, **headers},
    )
    assert sent.status_code == 201

    (row,) = table(podium, f"/runs/{run.id}")
    assert row["message"] == f"'{note}"
    rows = page(podium, f"/runs/{run.id}", "json").json()["rows"]
    assert [row["message"] for row in rows] == [note]


def test_an_unknown_id_is_no_formula_in_the_csv_of_a_page(podium: Podium) -> None:
    run = podium.run(podium.competition())
    sent = run.submit(f"id,target\n{FORMULA},1\n".encode()).json()

    cells = [cell for row in table(podium, f"/submissions/{sent['id']}") for cell in row.values()]
    assert any("cmd" in cell for cell in cells)
    assert not any(cell.startswith("=") for cell in cells)


def test_the_name_of_an_experiment_is_no_formula_in_the_csv_of_a_picture(podium: Podium) -> None:
    """Pages link it below the picture, as they link their table."""
    folder = podium.competition()
    name = f"{FORMULA.replace('/', ' ')} {folder.name}"
    about = {"name": name, "agent": "an-agent", "model": "a-model"}
    assert podium.admin.post("/v1/experiments", json=about).status_code == 201
    cell = {"experiment": name, "competition": folder.name, "seed": 0, "feedback": "full"}
    made = podium.admin.post("/v1/runs", json=cell).json()
    sent = podium.client(made["key"]).post(
        f"/v1/runs/{made['id']}/submissions", content=good_submission(folder), headers=WAIT
    )
    assert sent.json()["state"] == "graded"

    drawn = podium.admin.get(f"/competitions/{folder.name}/leaderboard.csv")

    rows = list(csv.DictReader(io.StringIO(drawn.text)))
    assert [row["experiment"] for row in rows if row["part"] == "attempts"] == [f"'{name}"]


def test_texts_of_a_metric_or_an_archive_are_no_formulas_in_the_csv_of_a_page() -> None:
    """A fault's place is what the process of a metric.py says; a file's name is the archive's."""
    rows = [
        {"kind": "metric", "place": FORMULA, "attempt": -1},
        {"kind": "@SUM", "place": f"{FORMULA}.csv", "attempt": -0.5},
        {"kind": "-1+1", "place": "+1", "attempt": None},
    ]
    text = bytes(as_csv(lambda: rows).body).decode()

    cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
    odd = [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert sorted(odd) == ["-0.5", "-1"]
    assert {f"'{FORMULA}", f"'{FORMULA}.csv", "'@SUM", "'+1", "'-1+1"} < set(cells)


def test_a_text_is_no_formula_for_a_spreadsheet_that_divides_cells_elsewhere() -> None:
    """Many languages divide cells at semicolons, and then quotes within a line mean nothing."""
    texts = [
        f"a;{FORMULA};b", f'a;"{FORMULA};b', f"a\t{FORMULA}", f"a,\n{FORMULA}\n", ";;@SUM(A1)",
        f"a;'{FORMULA}", "a; b; -1 is no formula", "'=1", "\t=1",
    ]  # fmt: skip
    text = to_spreadsheet_csv([{"first": one, "message": one} for one in texts])

    for ends in (";", ";\t", ",;\t"):
        cells = [cell.lstrip('"') for cell in re.split(f"[\r\n{ends}]", text)]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))], ends
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [ADDED.sub(r"\1", row["first"]) for row in read] == texts


def page(podium: Podium, path: str, form: str) -> httpx.Response:
    answer = podium.admin.get(path, params={"format": form}, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return answer


def table(podium: Podium, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page(podium, path, "csv").text)))
