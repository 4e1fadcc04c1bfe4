"""Grading reports over HTTP: nothing is lost, nothing is believed, nothing is overwritten."""

from __future__ import annotations

import json
import random
import shutil
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.grading_reports import ROOT, entry, medal_lines, random_report, report, suites

LINES = medal_lines()


@pytest.fixture
def podium(podium: Podium) -> Podium:
    folders = Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"])
    shutil.copy(ROOT / "competitions" / "suites.toml", folders)
    return podium


def send(podium: Podium, name: str, document: object, query: str = "seed=0"):
    return podium.admin.post(f"/v1/experiments/{name}/grading-reports?{query}", json=document)


def test_the_report_of_a_run_with_a_negative_seed_is_given(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny, seed=-3)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).raise_for_status()

    path = f"/v1/experiments/{run.document['experiment']}/grading-report"
    given = podium.admin.get(f"{path}?seed=-3")

    assert given.status_code == 200
    assert [one["competition_id"] for one in given.json()["competition_reports"]] == [tiny.name]


def test_what_goes_in_comes_out(podium: Podium) -> None:
    name = podium.experiment()
    document = random_report(suites()["mle-bench"], random.Random(1))
    answer = send(podium, name, document)
    assert answer.status_code == 201
    assert answer.json() == {"imported": 75, "unchanged": 0, "seeds": [0], "mismatches": []}
    back = podium.admin.get(f"/v1/experiments/{name}/grading-report?seed=0")
    assert back.json() == document
    assert list(back.json()["competition_reports"][0]) == list(document["competition_reports"][0])


def test_mismatches_are_listed_and_our_count_stands(podium: Podium) -> None:
    name = podium.experiment()
    wrong = {**entry(LINES["leaf-classification"], 0.015), "gold_medal": True}
    found = send(podium, name, report([wrong])).json()["mismatches"]
    assert [(m["field"], m["file"], m["ours"]) for m in found] == [
        ("gold_medal", True, False), ("total_gold_medals", 1, 0),
    ]  # fmt: skip
    body = podium.admin.get(f"/v1/experiments/{name}/medal-rates").json()["groups"]["all"]
    assert (body["gold"]["mean"], body["bronze"]["mean"]) == (0.0, 100.0)


def test_the_same_again_changes_nothing_and_other_results_are_refused(podium: Podium) -> None:
    name = podium.experiment()
    document = random_report(suites()["mle-bench-dev"], random.Random(2))
    assert send(podium, name, document).status_code == 201
    again = send(podium, name, document)
    assert (again.status_code, again.json()["unchanged"]) == (200, 7)
    other = random_report(suites()["mle-bench-dev"], random.Random(3))
    refusal = send(podium, name, other)
    assert refusal.status_code == 409
    assert "another imported result of seed 0" in refusal.json()["detail"]
    assert podium.admin.get(f"/v1/experiments/{name}/grading-report").json() == document


def test_a_competition_that_comes_twice_is_refused_or_has_the_next_seed(podium: Podium) -> None:
    name = podium.experiment()
    first = {**entry(LINES["leaf-classification"], 0.0), "created_at": "2025-02-02"}
    second = {**entry(LINES["leaf-classification"], 9.9), "created_at": "2025-01-01"}
    refusal = send(podium, name, report([first, second]))
    assert refusal.status_code == 409
    assert "competition_reports[0]" in refusal.json()["detail"]
    taken = send(podium, name, report([first, second]), "seed=4&repeats=seeds").json()
    assert (taken["imported"], taken["seeds"]) == (2, [4, 5])
    # the earlier one has the first seed, wherever it stands in the file
    body = podium.admin.get(f"/v1/experiments/{name}/medal-rates").json()
    assert body["groups"]["all"]["any_medal"]["per_seed"] == [0.0, 100.0]


def test_a_key_is_either_a_run_or_imported(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    name = run.document["experiment"]
    one = {**entry(LINES["leaf-classification"], 0.0), "competition_id": tiny.name}
    assert send(podium, name, [one]).status_code == 409
    assert send(podium, name, [one], "seed=1").status_code == 201
    body = {"experiment": name, "competition": tiny.name, "seed": 1}
    assert podium.admin.post("/v1/runs", json=body).status_code == 409


def test_lines_that_are_not_the_competitions_are_listed(podium: Podium, tiny: Path) -> None:
    one = {**entry(LINES["leaf-classification"], 0.0), "competition_id": tiny.name}
    found = send(podium, podium.experiment(), [one]).json()["mismatches"]
    assert {m["field"] for m in found} == {
        "gold_threshold", "silver_threshold", "bronze_threshold", "median_threshold",
    }  # fmt: skip
    # the board is 0.05, 0.10, ...: one gold for twelve teams
    assert next(m["ours"] for m in found if m["field"] == "gold_threshold") == 0.05


def test_runs_are_given_out_rounded_and_can_be_taken_in(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    run.submit(good_submission(tiny, shift=0.123456789))
    name = run.document["experiment"]
    made = podium.admin.get(f"/v1/experiments/{name}/grading-report?seed=0").json()
    (one,) = made["competition_reports"]
    assert one["score"] == 0.12346
    assert (one["bronze_medal"], one["is_lower_better"], made["total_medals"]) == (True, True, 1)
    taken = send(podium, podium.experiment(), made)
    assert (taken.status_code, taken.json()["mismatches"]) == (201, [])


def test_an_export_leaves_out_imported_results_at_archived_competitions(
    podium: Podium, tiny: Path
) -> None:
    name = podium.experiment()
    here = {**entry(LINES["leaf-classification"], 0.0), "competition_id": tiny.name}
    send(podium, name, [here, entry(LINES["leaf-classification"], 0.0)])
    place = f"/v1/competitions/{tiny.name}"
    assert podium.admin.post(f"{place}/archive", json={"reason": "leaked"}).status_code == 200

    made = podium.admin.get(f"/v1/experiments/{name}/grading-report?seed=0").json()

    podium.admin.post(f"{place}/restore", json={"reason": "not leaked"})
    assert [one["competition_id"] for one in made["competition_reports"]] == ["leaf-classification"]
    assert made["total_runs"] == 1


def test_grade_export_and_import_agree_at_the_resolution_of_the_board(podium: Podium) -> None:
    board = [round(0.0501 + 0.05 * place, 4) for place in range(12)]
    folder = podium.competition(leaderboard=board)
    shown = podium.admin.get(f"/v1/competitions/{folder.name}").json()
    assert shown["medals"]["decimals"] == 4
    run = podium.run(folder, feedback="full")
    grade = run.submit(good_submission(folder, shift=0.05014)).json()["grade"]
    assert grade["score"] == pytest.approx(0.05014)  # unrounded
    assert (grade["medal"], grade["better"], grade["equal"]) == ("gold", 0, 1)
    assert (grade["decimals"], grade["borderline"], grade["unrounded_medal"]) == (4, True, "silver")
    name = run.document["experiment"]
    made = podium.admin.get(f"/v1/experiments/{name}/grading-report?seed=0").json()
    (one,) = made["competition_reports"]
    assert (one["score"], one["gold_medal"], one["gold_threshold"]) == (0.0501, True, 0.0501)
    other = podium.experiment()
    taken = send(podium, other, made)
    assert (taken.status_code, taken.json()["mismatches"]) == (201, [])
    again = podium.admin.get(f"/v1/experiments/{other}/grading-report?seed=0").json()
    assert again["competition_reports"] == made["competition_reports"]


def test_a_score_whose_rounding_reaches_a_line_is_exported_unrounded(podium: Podium) -> None:
    line = medal_lines()["leaf-classification"]
    score = float(line["bronze"]) + 1e-9  # lower is better: no medal, but round(score, 5) has one
    document = {**entry(line, None), "score": score, "valid_submission": True,
                "submission_exists": True, "above_median": True}  # fmt: skip
    name = podium.experiment()
    assert send(podium, name, [document]).json()["mismatches"] == []
    made = podium.admin.get(f"/v1/experiments/{name}/grading-report?seed=0").json()
    assert made["competition_reports"][0]["score"] == score
    assert send(podium, podium.experiment(), made).json()["mismatches"] == []


def test_public_scores_do_not_tell_borderline_medals(podium: Podium) -> None:
    board = [round(0.0501 + 0.05 * place, 4) for place in range(12)]
    folder = podium.competition(leaderboard=board)
    run = podium.run(folder, feedback="public")
    grade = run.submit(good_submission(folder, shift=0.05014)).json()["grade"]
    assert (grade["decimals"], grade["borderline"], grade["unrounded_medal"]) == (None, None, None)
    assert set(grade["grader"]) == {"metric", "podium_version", "environment"}


def test_what_is_no_report_is_refused_with_place_and_reason(podium: Podium) -> None:
    name = podium.experiment()
    refusal = send(podium, name, {"tasks": []})
    assert refusal.status_code == 422
    assert refusal.json()["type"] == "/problems/bad-report"
    assert "'tasks'" in refusal.json()["reason"]
    assert send(podium, "nobody", []).status_code == 404
    assert podium.admin.get(f"/v1/experiments/{name}/grading-report").status_code == 404


def test_a_report_that_is_too_large_is_not_told_of_the_setting_for_uploads(podium: Podium) -> None:
    """It bounds no reports."""
    connection = HTTPConnection("127.0.0.1", podium.server.port, timeout=30)
    connection.putrequest("POST", f"/v1/experiments/{podium.experiment()}/grading-reports")
    for name, value in {
        "Authorization": f"Bearer {podium.server.key}",
        "Content-Type": "application/json",
        "Content-Length": str(80 * 1024 * 1024),
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    with closing(connection):
        answer = connection.getresponse()
        detail = json.loads(answer.read())["detail"]

    assert answer.status == 413
    assert detail == "The body is larger than the 67108864 bytes that this route accepts."


def test_the_page_of_a_comparison_links_only_competitions_that_are_here(
    podium: Podium, tiny: Path
) -> None:
    (elsewhere,) = suites()["mle-bench-dev"][:1]
    assert podium.admin.get(f"/v1/competitions/{elsewhere}").status_code == 404
    names = [podium.experiment(), podium.experiment()]
    for name in names:
        podium.run(tiny, experiment=name).submit(good_submission(tiny))
        assert send(podium, name, random_report([elsewhere], random.Random(1))).status_code == 201

    page = podium.admin.get(f"/compare?a={names[0]}&b={names[1]}", headers={"Accept": "text/html"})

    assert page.status_code == 200
    assert f'<th scope="row"><a href="/competitions/{tiny.name}">{tiny.name}</a></th>' in page.text
    assert f'<th scope="row">{elsewhere}</th>' in page.text
