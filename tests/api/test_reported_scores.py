"""Scores that a harness measured: kept with their evidence, refused from an agent, no grades."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission

EVIDENCE = {
    "file": "result.csv", "command": "python train.py", "environment": {"numpy": "2.4.6"},
    "hardware": "one A100", "note": [1, None, {"x": 0.5}],
}  # fmt: skip
BASELINE = '[baseline]\nscore = 2.0\nsource = "a test"\n'
MEASURED = """title = "Speed"
version = 1
[metric]
name = "seconds"
measured = true
higher_is_better = false
unit = "s"
harness = "time python train.py"
[baseline]
score = 6.1742
source = "the starter code"
"""


def report(client: httpx.Client, run: str, **body: object) -> httpx.Response:
    return client.post(f"/v1/runs/{run}/reported-scores", json={"evidence": EVIDENCE, **body})


def reported(podium: Podium, run: Run) -> list[dict]:
    answer = podium.admin.get(f"/v1/runs/{run.id}/reported-scores")
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def measured(podium: Podium) -> Path:
    folder = podium.folder()
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    (folder / "competition.toml").write_text(MEASURED)
    (folder / "description.md").write_text("# Speed\n")
    assert podium.send_folder(folder).status_code == 201
    return folder


def test_a_measured_score_is_reported_and_never_graded(podium: Podium) -> None:
    folder = measured(podium)
    run = podium.run(folder)
    researcher = podium.client(podium.researcher_key())
    answer = report(researcher, run.id, score=5.0)

    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["state"], found["sort"], found["score"]) == ("reported", "reported", 5.0)
    assert found["evidence"] == {
        **EVIDENCE, "note": [1, None, {"x": 0.5}],
    }  # fmt: skip
    assert found["improvement"] == pytest.approx((6.1742 - 5.0) / 6.1742)
    assert (found["success"], found["final"], found["reported_by"][:4]) == (True, True, "key_")
    assert reported(podium, run) == [found]
    assert podium.admin.get(f"/v1/runs/{run.id}").json()["reported_scores"] == 1
    assert podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
    assert run.submit(b"id,target\n").status_code == 409


def test_the_same_report_again_is_the_one_that_is_there(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    first = report(podium.admin, run.id, score=0.5, step=3)
    again = report(podium.admin, run.id, score=0.5, step=3)
    other = report(podium.admin, run.id, score=0.5, step=4, final=False)

    assert [first.status_code, again.status_code, other.status_code] == [201, 200, 201]
    assert again.json() == first.json()
    assert [each["step"] for each in reported(podium, run)] == [3, 4]
    page = podium.admin.get(f"/v1/runs/{run.id}/reported-scores?limit=1").json()
    rest = podium.admin.get(
        f"/v1/runs/{run.id}/reported-scores?cursor={page['next_cursor']}"
    ).json()  # fmt: skip
    assert [each["step"] for each in [*page["items"], *rest["items"]]] == [3, 4]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("policy", ["validity", "full"])
def test_an_agent_cannot_report_its_own_score_nor_read_one(
    podium: Podium, tiny: Path, policy: str
) -> None:
    run = podium.run(tiny, feedback=policy)
    refusal = report(run.client, run.id, score=0.99)

    assert refusal.status_code == 403
    assert "researcher's key" in refusal.json()["detail"]
    assert report(podium.client(), run.id, score=0.99).status_code == 401
    assert reported(podium, run) == []
    report(podium.admin, run.id, score=0.123456789)
    assert run.client.get(f"/v1/runs/{run.id}/reported-scores").status_code == 403
    shown = run.client.get(f"/v1/runs/{run.id}")
    assert shown.json()["reported_scores"] is None
    assert run.client.get("/v1/runs").json()["items"][0]["reported_scores"] is None
    assert "0.123456789" not in shown.text


def test_a_closed_run_may_be_measured(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    assert report(podium.admin, run.id, score=0.5).status_code == 201


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"score": "0.5"}, "score"),
        ({"score": True}, "score"),
        ({"score": None}, "score"),
        ({}, "score"),
        ({"score": 0.5, "evidence": {}}, "evidence is empty"),
        ({"score": 0.5, "evidence": {"file": None, "command": ""}}, "evidence is empty"),
        ({"score": 0.5, "evidence": None}, "evidence"),
        ({"score": 0.5, "evidence": {"log": "x" * 70_000}}, "larger than"),
        ({"score": 0.5, "evidence": {"log": "a\x00b"}}, "NUL"),
        ({"score": 0.5, "evidence": {"a\x00b": 1}}, "NUL"),
        ({"score": 0.5, "state": "graded"}, "state"),
        ({"score": 0.5, "step": -1}, "step"),
        ({"score": 0.5, "run_seconds": -0.5}, "run_seconds"),
    ],
)
def test_what_is_not_a_report_is_refused(podium: Podium, tiny: Path, body: dict, said: str) -> None:
    run = podium.run(tiny)
    refusal = report(podium.admin, run.id, **body)

    assert refusal.status_code == 422, refusal.text
    assert said in refusal.json()["detail"]
    assert "Value error" not in refusal.text  # words of the library that reads bodies
    assert reported(podium, run) == []


@pytest.mark.parametrize(
    "body",
    [
        *(f'{{"score": {number}, "evidence": {{"file": "f"}}}}'
          for number in ("NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400)),
        *(f'{{"score": 1, "evidence": {{"runs": [{number}]}}}}'
          for number in ("NaN", "Infinity", "-Infinity", "1e999")),
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_refused(podium: Podium, tiny: Path, body: str) -> None:
    run = podium.run(tiny)
    refusal = podium.admin.post(
        f"/v1/runs/{run.id}/reported-scores", content=body,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip

    assert refusal.status_code == 422, refusal.text
    assert reported(podium, run) == []


def test_a_score_of_the_wrong_direction_is_refused(podium: Podium) -> None:
    lower = podium.competition(toml=BASELINE)  # a root mean squared error
    run = podium.run(lower)

    for body, said in [
        ({"score": -0.5}, "never negative"),
        ({"score": -1}, "report none"),
        ({"score": 1.0, "higher_is_better": True}, "declares that lower is"),
        ({"score": 1.0, "improvement": -0.5}, "is one of 0.5"),
    ]:
        refusal = report(podium.admin, run.id, **body)
        assert refusal.status_code == 409, body
        assert said in refusal.json()["detail"]
        assert refusal.json()["type"] == "/problems/score-contradicts"
    assert reported(podium, run) == []
    kept = report(podium.admin, run.id, score=1.0, higher_is_better=False, improvement=0.5)
    assert (kept.status_code, kept.json()["improvement"]) == (201, 0.5)


def test_an_improvement_needs_a_baseline(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    refusal = report(podium.admin, run.id, score=1.0, improvement=0.5)
    assert refusal.status_code == 409
    assert "no baseline" in refusal.json()["detail"]
    kept = report(podium.admin, run.id, score=1.0).json()
    assert (kept["improvement"], kept["success"]) == (None, None)


def test_no_run_no_report(podium: Podium) -> None:
    assert report(podium.admin, "run_none", score=1.0).status_code == 404
    assert podium.admin.get("/v1/runs/run_none/reported-scores").status_code == 404


def test_reported_scores_win_no_medals(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    report(podium.admin, run.id, score=0.0001)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    path = f"/v1/experiments/{run.document['experiment']}/medal-rates"

    refusal = podium.admin.get(path)
    assert refusal.status_code == 409
    assert refusal.json()["missing"][0]["reason"] == "its scores are reported, not graded"
    rates = podium.admin.get(f"{path}?padding=fail").json()["groups"]["all"]
    assert rates["any_medal"]["mean"] == 0.0


def test_a_grade_beside_a_report_stays_the_grade(podium: Podium, own_tiny: Path) -> None:
    run = podium.run(own_tiny)
    run.submit(good_submission(own_tiny))
    report(podium.admin, run.id, score=99.0)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    (line,) = podium.admin.get(f"/v1/competitions/{own_tiny.name}/results").json()["items"]
    assert (line["score"], line["medal"]) == (0.0, "gold")
