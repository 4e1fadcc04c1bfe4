"""What an agent writes reaches readers of pages as a text, in their spreadsheets too."""

from __future__ import annotations

import csv
import io

import httpx
import pytest

from tests.api.conftest import WAIT, Podium
from tests.factories import good_submission

FORMULA = "=cmd|'/C calc'!A0"


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


def test_costs_beyond_the_largest_number_leave_the_picture_of_others_as_it_is(
    podium: Podium,
) -> None:
    folder = podium.competition()
    names = {podium.experiment(): 1.5, podium.experiment(): 1.7e308}
    for name, cost in names.items():
        for seed in range(2):
            body = {"experiment": name, "competition": folder.name, "seed": seed}
            made = podium.admin.post("/v1/runs", json=body).json()
            sent = podium.admin.post(
                f"/v1/runs/{made['id']}/submissions", content=good_submission(folder), headers=WAIT
            )
            assert sent.status_code == 201, sent.text
            closed = {"state": "closed", "usage": {"cost_usd": cost}}
            assert podium.admin.patch(f"/v1/runs/{made['id']}", json=closed).status_code == 200

    drawn = list(csv.DictReader(io.StringIO(podium.admin.get("/cost.csv").text)))
    assert [(row["experiment"], row["cost"]) for row in drawn] == [(next(iter(names)), "1.5")]
    assert "Infinity" not in podium.admin.get("/cost.svg").text
    assert "Infinity" not in podium.admin.get("/cost.vl.json").text


def page(podium: Podium, path: str, form: str) -> httpx.Response:
    answer = podium.admin.get(path, params={"format": form}, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return answer


def table(podium: Podium, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page(podium, path, "csv").text)))
