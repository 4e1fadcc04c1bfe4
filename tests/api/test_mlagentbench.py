"""MLAgentBench's tasks over HTTP: imported with data, graded, judged, told as far as allowed."""

from __future__ import annotations

import csv
import io
import shutil

import pytest

from tests.api.conftest import Podium
from tests.catalogue.mlagentbench import COMPETITIONS, MEASURED, TASKS
from tests.factories import good_submission
from tests.graders.conftest import wait_until

BASELINE = '[baseline]\nscore = {score}\nsource = "a test"\nsuccess_threshold = {threshold}\n'
# Improvements worked by hand from the scores that tests/catalogue counts.
UP = {"mlagentbench-imdb": 0.5, "mlagentbench-ogbn-arxiv": 0.3134,
      "mlagentbench-spaceship-titanic": 0.5, "mlagentbench-fathomnet": 1e-10}  # fmt: skip
DOWN = {"mlagentbench-house-price": 1e10}


def import_task(podium: Podium, slug: str):
    folder = podium.folders / slug
    task = TASKS[slug]()
    is_new = not folder.exists()
    if is_new:
        task.folder(folder)
    response = podium.send_folder(folder)
    assert response.status_code == (201 if is_new else 200), response.text
    return task, folder, response.json()


@pytest.mark.parametrize("slug", TASKS)
def test_a_task_from_import_to_grade(podium: Podium, slug: str) -> None:
    task, folder, imported = import_task(podium, slug)
    assert (imported["status"], imported["medals"], imported["lint"]) == ("ready", None, [])
    run = podium.run(folder, feedback="full")

    for name, (text, expected) in task.good.items():
        sent = run.submit(text.encode())
        assert (sent.status_code, sent.json()["state"]) == (201, "graded"), (name, sent.text)
        grade = sent.json()["grade"]
        assert grade["score"] == pytest.approx(expected, rel=1e-12), name
        assert (grade["medal"], grade["teams"], grade["above_median"]) == (None, None, None)
        improvement = None
        if slug in UP:
            improvement = (expected - UP[slug]) / UP[slug]
        elif slug in DOWN:
            improvement = (DOWN[slug] - expected) / DOWN[slug]
        assert grade["improvement"] == (
            None if improvement is None else pytest.approx(improvement, rel=1e-9, abs=1e-12)
        )
        is_edge = name == "at the threshold"
        assert grade["success"] is (
            None if improvement is None else improvement > 0.1 and not is_edge
        )
    for name, (text, code) in task.bad.items():
        sent = run.submit(text.encode()).json()
        assert (sent["state"], sent["grade"]) == ("rejected", None), name
        assert code in {violation["code"] for violation in sent["problem"]["violations"]}, name
        assert run.validate(text.encode()).json()["valid"] is False


def with_baseline(podium: Podium, score: str, threshold: float = 0.1, **more):
    return podium.competition(toml=BASELINE.format(score=score, threshold=threshold), **more)


@pytest.mark.parametrize("feedback", ["none", "validity", "public", "full"])
def test_a_run_learns_of_the_baseline_what_it_learns_of_the_score(
    podium: Podium, feedback: str
) -> None:
    folder = with_baseline(podium, "0.5")
    run = podium.run(folder, feedback=feedback)
    body = good_submission(folder, shift=0.12)
    own = run.submit(body).json()
    address = f"/v1/submissions/{own['id']}"
    wait_until(lambda: podium.admin.get(address).json()["grade"] is not None)  # `none`: no waiting
    seen = podium.admin.get(address).json()["grade"]

    assert seen["improvement"] == pytest.approx((0.5 - seen["score"]) / 0.5, rel=1e-12)
    assert seen["success"] is True
    shown = run.client.get(f"/v1/competitions/{folder.name}").json()
    told = own["grade"] or {}
    if feedback == "full":
        assert told == seen
        assert shown["baseline"] == {"score": 0.5, "source": "a test", "success_threshold": 0.1}
    else:
        assert (told.get("improvement"), told.get("success"), told.get("score")) == (None,) * 3
        assert shown["baseline"] is None


def test_a_folder_may_have_a_board_and_a_baseline(podium: Podium) -> None:
    folder = with_baseline(podium, "0.24", threshold=0.5)
    run = podium.run(folder, feedback="full")
    grade = run.submit(good_submission(folder, shift=0.12)).json()["grade"]

    assert grade["score"] == pytest.approx(0.12, rel=1e-9)
    assert (grade["medal"], grade["teams"]) == ("bronze", 12)
    assert grade["improvement"] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize(("baseline", "success"), [("0.0", False), ("-1.0", False)])
def test_a_baseline_that_cannot_be_beaten_is_no_trouble(
    podium: Podium, baseline: str, success: bool
) -> None:
    folder = with_baseline(podium, baseline)
    grade = (
        podium.run(folder, feedback="full")
        .submit(good_submission(folder, shift=0.12))
        .json()["grade"]
    )

    expected = None if baseline == "0.0" else pytest.approx(-1.0 - 0.12, rel=1e-9)
    assert (grade["improvement"], grade["success"]) == (expected, success)


def test_without_a_baseline_there_is_nothing_to_judge_by(podium: Podium) -> None:
    folder = podium.competition(leaderboard=None)
    grade = (
        podium.run(folder, feedback="full")
        .submit(good_submission(folder, shift=0.12))
        .json()["grade"]
    )

    assert (grade["improvement"], grade["success"], grade["medal"]) == (None, None, None)
    assert podium.admin.get(f"/v1/competitions/{folder.name}").json()["baseline"] is None
    assert podium.admin.get(f"/v1/competitions/{folder.name}/leaderboard").status_code == 404
    assert podium.admin.get(f"/v1/competitions/{folder.name}/standing?score=1").status_code == 404


def test_results_tell_improvement_and_medals_are_not_counted_without_a_board(
    podium: Podium,
) -> None:
    folder = with_baseline(podium, "0.5", leaderboard=None)
    run = podium.run(folder)
    run.submit(good_submission(folder, shift=0.12))
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})

    (line,) = podium.admin.get(f"/v1/competitions/{folder.name}/results").json()["items"]
    assert line["improvement"] == pytest.approx(0.76, rel=1e-9)
    assert (line["success"], line["medal"]) == (True, None)
    rows = podium.admin.get(
        f"/v1/competitions/{folder.name}/results", headers={"Accept": "text/csv"}
    ).text.splitlines()
    assert {"improvement", "success"} <= set(rows[0].split(","))
    experiment = run.document["experiment"]
    for path in ("medal-rates", "pass-at-k", "medals-over-time"):
        refused = podium.admin.get(f"/v1/experiments/{experiment}/{path}")
        assert refused.status_code == 409, refused.text
        assert refused.json()["type"] == "/problems/leaderboards-missing"
        assert refused.json()["no_leaderboard"] == [folder.name]
    board = podium.admin.get("/v1/medal-rates", params={"experiments": experiment}).json()
    (absent,) = board["absent"]
    assert absent["experiment"] == experiment
    assert "no human leaderboard" in absent["reason"]
    [row] = csv.DictReader(io.StringIO(podium.admin.get(
        "/v1/medal-rates", params={"experiments": experiment}, headers={"Accept": "text/csv"}
    ).text))  # fmt: skip
    assert (row["experiment"], row["not_counted"]) == (experiment, absent["reason"])


@pytest.mark.parametrize("slug", sorted(MEASURED))
def test_a_measured_task_is_ready_without_data_and_takes_no_file(podium: Podium, slug: str) -> None:
    folder = podium.folders / slug
    if not folder.exists():
        shutil.copytree(COMPETITIONS / slug, folder)
    imported = podium.send_folder(folder).json()
    assert (imported["status"], imported["submission"], imported["medals"]) == ("ready", None, None)
    assert set(imported["measured"]) == {"unit", "harness"}
    assert imported["metric"]["higher_is_better"] is (slug == "mlagentbench-clrs")
    run = podium.run(folder, feedback="full")

    assert run.client.get(f"/v1/competitions/{slug}/description").text.startswith("# ")
    assert run.client.get(f"/v1/competitions/{slug}/sample-submission").status_code == 404
    for refused in (
        run.submit(b"id,x\na,1\n"),
        run.submit(b"x" * 200_000),
        run.validate(b"id,x\na,1\n"),
        run.client.post("/validate", files={"file": b"id,x\na,1\n"}),
        podium.admin.post(
            f"/v1/runs/{run.id}/submissions", content=b"a", headers={"Content-Type": "text/csv"}
        ),
    ):
        assert refused.status_code == 409, refused.text
        assert "is measured by a harness" in refused.text
    assert refused.json()["type"] == "/problems/takes-no-submissions"
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
    assert run.client.get(f"/v1/competitions/{slug}").json()["slug"] == slug


def test_kaggles_api_describes_a_measured_task_and_refuses_its_file(podium: Podium) -> None:
    folder = podium.folders / "mlagentbench-clrs"
    if not folder.exists():
        shutil.copytree(COMPETITIONS / folder.name, folder)
    podium.send_folder(folder)
    run = podium.run(folder)
    calls = "/api/v1/competitions.CompetitionApiService/"
    named = {"competitionName": folder.name}

    pages = run.client.post(calls + "ListCompetitionPages", json=named).json()["pages"]
    evaluation = next(page["content"] for page in pages if page["name"] == "evaluation")
    assert "There are no submissions here" in evaluation
    upload = {**named, "contentLength": 3, "fileName": "a.csv"}
    refused = run.client.post(calls + "StartSubmissionUpload", json=upload)
    assert refused.status_code == 409
    assert "is measured by a harness" in refused.text
