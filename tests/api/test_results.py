"""Results over HTTP: what agents submitted and what was imported, as rates one can defend."""

from __future__ import annotations

import csv
import io
import random
import re
import shutil
import statistics
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tests.api.conftest import Podium, Run
from tests.factories import good_submission
from tests.grading_reports import ROOT, random_report, suites


@pytest.fixture
def podium(podium: Podium) -> Podium:
    folders = Path(podium.server.environment["PODIUM_COMPETITIONS_DIR"])
    shutil.copy(ROOT / "competitions" / "suites.toml", folders)
    return podium


def add_run(podium: Podium, experiment: str, slug: str, seed: int, **more) -> Run:
    body = {"experiment": experiment, "competition": slug, "seed": seed, **more}
    response = podium.admin.post("/v1/runs", json=body)
    assert response.status_code == 201, response.text
    document = response.json()
    return Run(document["id"], document, podium.client(document["key"]))


def close(podium: Podium, run: Run) -> None:
    assert podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).status_code == 200


def rates(podium: Podium, name: str, query: str = "", accept: str = "") -> httpx.Response:
    headers = {"Accept": accept} if accept else {}
    return podium.admin.get(f"/v1/experiments/{name}/medal-rates?{query}", headers=headers)


def test_final_submissions_decide(podium: Podium) -> None:
    first, second = podium.competition(), podium.competition()
    name = podium.experiment()
    # seed 0: gold at the first (selected, though a bad one came later), rejected at the second
    run = add_run(podium, name, first.name, 0, feedback="full")
    best = run.submit(good_submission(first)).json()
    run.submit(good_submission(first, shift=100.0))
    assert run.client.put(
        f"/v1/runs/{run.id}/selected", json={"submission": best["id"]}
    ).status_code == 200  # fmt: skip
    refused = add_run(podium, name, second.name, 0)
    refused.submit(b"id,target\nx,1\n")
    close(podium, refused)
    # seed 1: the last valid one counts; nothing at all at the second
    run = add_run(podium, name, first.name, 1)
    run.submit(good_submission(first))
    run.submit(good_submission(first, shift=100.0))
    run.submit(b"broken")
    close(podium, add_run(podium, name, second.name, 1))

    body = rates(podium, name).json()
    found = body["groups"]["all"]
    assert (body["seeds"], body["competitions"], body["missing"]) == (2, 2, [])
    assert found["any_medal"]["per_seed"] == [50.0, 0.0]
    assert found["gold"]["mean"] == 25.0
    assert found["any_medal"]["sem"] == pytest.approx(25.0)
    assert found["valid_submission"]["per_seed"] == [50.0, 50.0]
    assert found["made_submission"]["per_seed"] == [100.0, 50.0]
    assert body["exposure"]["policies"] == {"full": 1, "validity": 3}
    assert body["exposure"]["totals"]["private_scores"] == 2
    assert body["open_runs"] == 2


def test_an_open_run_without_a_submission_is_missing(podium: Podium, tiny: Path) -> None:
    name = podium.experiment()
    run = add_run(podium, name, tiny.name, 0)
    refusal = rates(podium, name)
    assert refusal.status_code == 409
    assert refusal.json()["missing"] == [
        {"competition": tiny.name, "seed": 0, "reason": "the run is open"}
    ]
    padded = rates(podium, name, "padding=fail").json()
    assert padded["groups"]["all"]["made_submission"]["mean"] == 0.0
    assert padded["groups"]["all"]["any_medal"]["sem"] is None
    podium.admin.patch(f"/v1/runs/{run.id}", json={"failure": "out_of_memory"})
    close(podium, run)
    body = rates(podium, name).json()
    assert (body["missing"], body["failures"]) == ([], {"out_of_memory": 1})


def imported(podium: Podium, seeds: int, number: int = 0, suite: str = "mle-bench"):
    name = podium.experiment()
    reports = []
    for seed in range(seeds):
        made = random_report(suites()[suite], random.Random(100 * number + seed))
        answer = podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed={seed}", json=made)
        assert answer.status_code == 201, answer.text
        assert answer.json()["mismatches"] == []
        reports.append(made)
    return name, reports


def any_medal(reports, suite: str) -> list[float]:
    wanted = set(suites()[suite])
    return [
        100 * statistics.fmean(e["any_medal"] for e in one["competition_reports"]
                               if e["competition_id"] in wanted)
        for one in reports
    ]  # fmt: skip


def test_the_row_of_a_published_agent(podium: Podium) -> None:
    name, reports = imported(podium, 3)
    query = "suite=mle-bench&padding=none&group_by=complexity"
    body = rates(podium, name, query).json()
    cells = []
    for group, suite in [
        ("low", "mle-bench-low"), ("medium", "mle-bench-medium"), ("high", "mle-bench-high"),
        ("all", "mle-bench"),
    ]:  # fmt: skip
        shares = any_medal(reports, suite)
        found = body["groups"][group]["any_medal"]
        assert found["mean"] == pytest.approx(statistics.fmean(shares))
        assert found["sem"] == pytest.approx(stats.sem(shares))
        cells.append(f"{statistics.fmean(shares):.2f} ± {stats.sem(shares):.2f}")
        low = rates(podium, name, f"suite={suite}").json()["groups"]["all"]
        assert low["any_medal"]["mean"] == pytest.approx(found["mean"])
    assert [g["competitions"] for g in body["groups"].values()] == [75, 22, 38, 15]
    markdown = rates(podium, name, query, "text/markdown").text
    assert " | ".join(cells) in markdown
    assert "Low == Lite (%) | Medium (%) | High (%) | All (%)" in markdown
    assert "225 imported results" in markdown


def test_every_form_has_the_same_numbers(podium: Podium) -> None:
    name, _ = imported(podium, 2, 1, "mle-bench-low")
    body = rates(podium, name, "group_by=complexity").json()
    answer = rates(podium, name, "group_by=complexity", "text/csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 14
    for row in rows:
        found = body["groups"][row["group"]][row["rate"]]
        assert float(row["mean"]) == found["mean"]
        assert [float(row["ci95_low"]), float(row["ci95_high"])] == found["ci95"]
        assert (row["private_scores"], row["exposure_unknown"], row["flags"]) == ("0", "44", "")
    parquet = rates(podium, name, "group_by=complexity", "application/vnd.apache.parquet")
    table = pq.read_table(io.BytesIO(parquet.content))
    assert table.column("mean").to_pylist() == [float(row["mean"]) for row in rows]


def test_what_is_missing_is_listed_padded_or_left_out(podium: Podium) -> None:
    name, reports = imported(podium, 2, 2, "mle-bench-low")
    refusal = rates(podium, name, "suite=mle-bench")
    assert refusal.status_code == 409
    assert len(refusal.json()["missing"]) == 2 * 53
    assert refusal.json()["missing"][0]["reason"] == "no run"
    padded = rates(podium, name, "suite=mle-bench&padding=fail").json()
    share = statistics.fmean(any_medal(reports, "mle-bench-low")) * 22 / 75
    assert padded["groups"]["all"]["any_medal"]["mean"] == pytest.approx(share)
    assert len(padded["missing"]) == 2 * 53
    assert rates(podium, name, "suite=mle-bench&padding=complete").status_code == 409
    assert rates(podium, name, "suite=nothing").status_code == 404
    assert rates(podium, "nobody").status_code == 404


def test_flagged_competitions_are_left_out_or_fail(podium: Podium) -> None:
    plain = podium.competition()
    leaky = podium.competition(toml='[[flags]]\ncode = "leaky"\nnote = "ids tell the answer"\n')
    name = podium.experiment()
    for folder in (plain, leaky):
        run = add_run(podium, name, folder.name, 0)
        run.submit(good_submission(folder))

    def any_of(query: str) -> tuple[int, float]:
        body = rates(podium, name, query).json()
        return body["competitions"], body["groups"]["all"]["any_medal"]["mean"]

    assert any_of("") == (2, 100.0)
    assert any_of("exclude_flags=leaky") == (1, 100.0)
    assert any_of("exclude_flags=leaky&excluded=fail") == (2, 50.0)
    refusal = rates(podium, name, "exclude_flags=leak")
    assert (refusal.status_code, "did you mean leaky?" in refusal.text) == (422, True)
    assert (
        podium.admin.get(f"/v1/experiments/{name}/success-rates?exclude_flags=leak").status_code
        == 422
    )
    told = rates(podium, name).json()["flags"]
    assert told == [{"competition": leaky.name, "code": "leaky", "note": "ids tell the answer"}]
    text = rates(podium, name, "exclude_flags=leaky", "text/markdown").text
    assert f"Flagged leaky, left out: {leaky.name}." in text


def test_bounds_count_no_success_where_flagged_competitions_are_failures(podium: Podium) -> None:
    plain = podium.competition()
    leaky = podium.competition(toml='[[flags]]\ncode = "leaks"\nnote = "ids tell the answer"\n')
    name = podium.experiment()
    for folder, seeds in ((plain, (0, 1)), (leaky, (0,))):
        for seed in seeds:
            add_run(podium, name, folder.name, seed).submit(good_submission(folder))

    def bounds_of(query: str) -> list[float]:
        found = rates(podium, name, f"padding=fail&{query}").json()
        assert [one["competition"] for one in found["missing"]] == [leaky.name]
        ends: list[float] = found["groups"]["all"]["any_medal"]["bounds"]
        return ends

    assert bounds_of("") == [75.0, 100.0]
    assert bounds_of("exclude_flags=leaks&excluded=fail") == [50.0, 50.0]


def test_pass_at_k(podium: Podium) -> None:
    name, reports = imported(podium, 3, 3, "mle-bench-low")
    path = f"/v1/experiments/{name}/pass-at-k?suite=mle-bench-low&k="
    found = podium.admin.get(path + "1,2,3").json()["pass_at_k"]
    won = {}
    for one in reports:
        for each in one["competition_reports"]:
            won.setdefault(each["competition_id"], []).append(each["any_medal"])
    assert found[0]["mean"] == pytest.approx(
        100 * statistics.fmean(map(statistics.fmean, won.values()))
    )
    assert found[2]["mean"] == pytest.approx(100 * statistics.fmean(map(any, won.values())))
    refusal = podium.admin.get(path + "4")
    assert refusal.status_code == 422
    assert "from 1 to 3" in refusal.json()["detail"]


def test_two_experiments_compared(podium: Podium) -> None:
    a, reports = imported(podium, 3, 4)
    b, others = imported(podium, 2, 5)
    found = podium.admin.get(f"/v1/compare?a={a}&b={b}&suite=mle-bench").json()

    def means(those) -> list[float]:
        slugs = suites()["mle-bench"]
        by = [
            {e["competition_id"]: e["any_medal"] for e in r["competition_reports"]} for r in those
        ]
        return [100 * statistics.fmean(r[slug] for r in by) for slug in slugs]

    test = stats.ttest_rel(means(reports), means(others))
    assert found["competitions"] == 75
    assert found["p"] == pytest.approx(test.pvalue)
    assert found["ci95"] == pytest.approx(list(test.confidence_interval()))
    assert found["detectable"] > 0
    assert (found["a"]["seeds"], found["b"]["seeds"]) == (3, 2)
    text = podium.admin.get(f"/v1/compare?a={a}&b={b}", headers={"Accept": "text/markdown"}).text
    assert f"{found['difference']:+.2f}" in text
    assert podium.admin.get(f"/v1/compare?a={a}&b={a}").status_code == 422


def test_the_board_and_the_item_table(podium: Podium) -> None:
    a, _ = imported(podium, 2, 6, "mle-bench-dev")
    b, _ = imported(podium, 1, 7, "mle-bench-dev")
    body = podium.admin.get("/v1/medal-rates?suite=mle-bench-dev").json()
    names = [row["experiment"] for row in body["items"]]
    assert {a, b} <= set(names)
    means = [row["groups"]["all"]["any_medal"]["mean"] for row in body["items"]]
    assert means == sorted(means, reverse=True)
    found = podium.admin.get("/v1/suites/mle-bench-dev/items").json()
    assert {a, b} <= set(found["experiments"])
    assert [one["competition"] for one in found["items"]] == sorted(suites()["mle-bench-dev"])


def test_results_are_for_researchers(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    name = run.document["experiment"]
    for path in (
        f"/v1/experiments/{name}/medal-rates", f"/v1/experiments/{name}/pass-at-k",
        f"/v1/compare?a={name}&b=x", "/v1/medal-rates", "/v1/suites/podium/items",
        f"/v1/experiments/{name}/grading-report", f"/v1/competitions/{tiny.name}/results",
        f"/v1/experiments/{name}/medals-over-time",
    ):  # fmt: skip
        assert run.client.get(path).status_code == 403, path
    assert run.client.post(f"/v1/experiments/{name}/grading-reports", json=[]).status_code == 403


def test_medals_over_time_and_what_choosing_cost(podium: Podium, tiny: Path) -> None:
    name = podium.experiment()
    run = add_run(podium, name, tiny.name, 0)
    run.submit(good_submission(tiny))
    run.submit(good_submission(tiny, shift=100.0))
    close(podium, add_run(podium, name, tiny.name, 1))
    path = f"/v1/experiments/{name}/medals-over-time"

    found = podium.admin.get(f"{path}?at=0,1000").json()
    assert [p["any_medal"] for p in found["points"]["last"]] == [0.0, 0.0]
    assert [p["any_medal"] for p in found["points"]["oracle"]] == [0.0, 50.0]
    assert [p["any_medal"] for p in found["points"]["best-public"]] == [0.0, 50.0]
    regret = found["regret"]["last"]
    low, high = regret.pop("runs95")
    assert 0 <= low < 50 < high <= 100
    assert regret == {
        "choice": 0.0, "oracle": 50.0, "regret": 50.0, "competitions95": None,
        "runs_that_lost_a_medal": 1,
    }  # fmt: skip
    low, high = found["points"]["oracle"][1]["any_medal_runs95"]
    assert 0 <= low < 50 < high <= 100
    assert podium.admin.get(f"{path}?axis=tokens").status_code == 409
    half = {"usage": {"seconds": 3600, "prompt_tokens": 900}}
    assert podium.admin.patch(f"/v1/runs/{run.id}", json=half).status_code == 200
    assert podium.admin.get(f"{path}?axis=tokens").status_code == 409  # their sum is not known
    usage = {"usage": {"seconds": 3600, "prompt_tokens": 900, "completion_tokens": 100}}
    podium.admin.patch(f"/v1/runs/{run.id}", json=usage)
    tokens = podium.admin.get(f"{path}?axis=tokens&at=1000000").json()
    assert (tokens["runs"], tokens["left_out"]) == (1, 1)
    assert tokens["points"]["oracle"][0]["any_medal"] == 100.0
    text = podium.admin.get(path, headers={"Accept": "text/markdown"}).text
    assert "50.00 points below the oracle" in text


def test_results_of_a_competition(podium: Podium, own_tiny: Path) -> None:
    name = podium.experiment()
    add_run(podium, name, own_tiny.name, 0).submit(good_submission(own_tiny, shift=0.12))
    add_run(podium, name, own_tiny.name, 1)
    close(podium, add_run(podium, name, own_tiny.name, 2))

    found = podium.admin.get(f"/v1/competitions/{own_tiny.name}/results").json()
    first, second, third = found["items"]
    # the board is 0.05, 0.10, ... 0.60: two teams are better than 0.12
    assert (first["better"], first["worse"], first["medal"]) == (2, 10, "bronze")
    assert first["percentile"] == pytest.approx(100 * 10 / 12)
    assert (second["state"], second["made"]) == ("the run is open", None)
    assert (third["state"], third["made"], third["valid"]) == ("settled", False, False)
    strict = podium.admin.get(f"/v1/competitions/{own_tiny.name}/results?percentile=mle-dojo-paper")
    assert strict.json()["items"][0]["percentile"] == pytest.approx(100 * (1 - 3 / 12))
    assert podium.admin.get("/v1/competitions/nothing/results").status_code == 404


def test_missing_runs_are_never_counted_as_without_a_medal(podium: Podium, tiny: Path) -> None:
    name = podium.experiment()
    for seed in range(4):
        run = add_run(podium, name, tiny.name, seed)
        if seed == 0:
            run.submit(good_submission(tiny))
            close(podium, run)
    path = f"/v1/experiments/{name}/medals-over-time?at=1000"
    refusal = podium.admin.get(path)
    assert refusal.status_code == 409
    assert [each["seed"] for each in refusal.json()["missing"]] == [1, 2, 3]
    expected = {"fail": (4, 25.0), "available": (1, 100.0), "complete": (1, 100.0)}
    for padding, (runs, medals) in expected.items():
        found = podium.admin.get(f"{path}&padding={padding}").json()
        assert (found["runs"], found["points"]["last"][0]["any_medal"]) == (runs, medals)
        assert [each["reason"] for each in found["missing"]] == ["the run is open"] * 3
        same = rates(podium, name, f"padding={padding}").json()
        assert same["groups"]["all"]["any_medal"]["mean"] == medals
        assert same["groups"]["all"]["any_medal"]["bounds"] == [25.0, 100.0]
    text = podium.admin.get(f"{path}&padding=fail", headers={"Accept": "text/markdown"}).text
    assert "3 missing results count as failures (padding=fail)." in text


def test_a_board_ranks_over_the_same_competitions_only(podium: Podium) -> None:
    lite, _ = imported(podium, 2, 11, "mle-bench-low")
    full, reports = imported(podium, 2, 12)
    path = f"/v1/medal-rates?experiments={lite},{full}"
    body = podium.admin.get(path).json()
    assert body["competitions"] == sorted(suites()["mle-bench-low"])
    found = {row["experiment"]: row for row in body["items"]}
    assert {row["competitions"] for row in found.values()} == {22}
    assert found[full]["groups"]["all"]["any_medal"]["mean"] == pytest.approx(
        statistics.fmean(any_medal(reports, "mle-bench-low"))
    )
    assert found[full]["outside_suite"] == 2 * 53
    padded = podium.admin.get(
        f"{path}&suite=mle-bench&padding=fail&group_by=complexity",
        headers={"Accept": "text/markdown"},
    ).text
    assert re.search(r"0\.00 ± 0\.00 \[([a-z])\]", padded)
    assert re.search(
        r"- \[[a-z]\] no result at any of these competitions: \d+ missing results count as "
        r"failures \(padding=fail\)", padded,
    )  # fmt: skip
    assert re.search(r"- \[[a-z]\] 106 missing results count as failures", padded)
    other = podium.experiment()
    document = {"results": [{"competition_id": "spaceship-titanic", "score": None}]}
    path_of_other = f"/v1/experiments/{other}/grading-reports"
    assert podium.admin.post(path_of_other, json=document).status_code == 201
    refusal = podium.admin.get(f"{path}&experiments={other}")
    assert refusal.status_code == 409
    assert refusal.json()["type"].endswith("/no-common-competition")
    assert other in refusal.json()["detail"]
    assert podium.admin.get("/v1/medal-rates?experiments=nobody").status_code == 404
    assert podium.admin.get("/v1/medal-rates?sutie=mle-bench").status_code == 422


def test_a_board_comes_in_pages(podium: Podium) -> None:
    names = ",".join(imported(podium, 2, number, "mle-bench-dev")[0] for number in (21, 22, 23))
    path = f"/v1/medal-rates?suite=mle-bench-dev&experiments={names}"
    everything = podium.admin.get(path).json()
    assert (len(everything["items"]), everything["next_cursor"]) == (3, None)
    first = podium.admin.get(f"{path}&limit=2").json()
    second = podium.admin.get(f"{path}&limit=2&cursor={first['next_cursor']}").json()
    assert first["items"] + second["items"] == everything["items"]
    assert second["next_cursor"] is None
    assert podium.admin.get(f"{path}&cursor=nobody").status_code == 422


def test_several_experiments_are_compared_at_once(podium: Podium) -> None:
    names = [imported(podium, 3, number)[0] for number in (31, 32, 33)]
    path = f"/v1/compare?experiments={','.join(names)}&suite=mle-bench"
    found = podium.admin.get(path).json()
    assert found["competitions"] == 75
    assert {one["experiment"] for one in found["experiments"]} == set(names)
    assert len(found["pairs"]) == 3
    for pair in found["pairs"]:
        two = podium.admin.get(f"/v1/compare?a={pair['a']}&b={pair['b']}&suite=mle-bench").json()
        assert pair["difference"] == pytest.approx(two["difference"])
        assert pair["p"] == pytest.approx(two["p"])
        assert pair["simultaneous95"][0] < two["ci95"][0]
    text = podium.admin.get(path, headers={"Accept": "text/markdown"}).text
    assert "simultaneous 95 %" in text
    rows = podium.admin.get(path, headers={"Accept": "text/csv"}).text.splitlines()
    assert len(rows) == 4
    assert podium.admin.get(f"/v1/compare?experiments={names[0]}").status_code == 422
    assert podium.admin.get(f"/v1/compare?experiments={names[0]}&a=x&b=y").status_code == 422
    assert podium.admin.get("/v1/compare").status_code == 422


def test_unequal_seeds_count_with_what_they_have(podium: Podium) -> None:
    name = podium.experiment()
    low = suites()["mle-bench-low"]
    won = {}
    for seed in range(3):
        made = random_report(low if seed == 0 else low[: 20 - 9 * seed], random.Random(seed))
        podium.admin.post(f"/v1/experiments/{name}/grading-reports?seed={seed}", json=made)
        for each in made["competition_reports"]:
            won.setdefault(each["competition_id"], []).append(each["any_medal"])
    found = rates(podium, name, "padding=available").json()["groups"]["all"]
    mean = 100 * statistics.fmean(statistics.fmean(each) for each in won.values())
    assert found["any_medal"]["mean"] == pytest.approx(mean)
    low_end, high_end = found["any_medal"]["bounds"]
    assert low_end <= mean <= high_end
    assert found["any_medal"]["sem"] is None
    assert found["any_medal"]["competitions_sem"] > 0
    none = rates(podium, name, "suite=mle-bench&padding=available")
    assert none.status_code == 409


def test_items_take_flags_and_experiments(podium: Podium) -> None:
    names = [imported(podium, 2, number, "mle-bench-dev")[0] for number in (41, 42)]
    path = "/v1/suites/mle-bench-dev/items"
    found = podium.admin.get(f"{path}?experiments={names[0]}&experiments={names[1]}").json()
    assert set(found["experiments"]) == set(names)
    assert found["absent"] == []
    assert {one["verdict"] for one in found["items"]} <= {None, "nobody", "everybody"}
    assert podium.admin.get(f"{path}?exclude_flags=leaqy").status_code == 422


@pytest.mark.parametrize("name", [".", "..", " a", "a ", "a\u202eb", "Z\u0065\u0301", "a\u200bb"])
def test_names_that_confuse_are_refused(podium: Podium, name: str) -> None:
    body = {"name": name, "agent": "a", "model": "m"}
    assert podium.admin.post("/v1/experiments", json=body).status_code == 422


def test_results_are_imported_for_known_competitions_and_seeds_only(podium: Podium) -> None:
    name = podium.experiment()
    path = f"/v1/experiments/{name}/grading-reports"
    typo = [{"competition_id": "leaf-clasification", "score": None}]
    refusal = podium.admin.post(path, json=typo)
    assert refusal.status_code == 422
    assert "did you mean 'leaf-classification'?" in refusal.json()["detail"]
    good = [{"competition_id": "leaf-classification", "score": None}]
    assert podium.admin.post(f"{path}?seed=-1", json=good).status_code == 422


def test_a_rejected_file_that_was_selected_counts_alike_in_rates_and_choices(
    podium: Podium, tiny: Path
) -> None:
    name = podium.experiment()
    run = add_run(podium, name, tiny.name, 0, feedback="none")  # it cannot know what is valid
    podium.settled(run.submit(good_submission(tiny)).json()["id"])
    bad = run.submit(b"not,a,submission\n").json()["id"]
    chosen = run.client.put(f"/v1/runs/{run.id}/selected", json={"submission": bad})
    assert chosen.status_code == 200, chosen.text
    podium.settled(bad)
    close(podium, run)
    path = f"/v1/experiments/{name}"

    assert rates(podium, name).json()["groups"]["all"]["any_medal"]["mean"] == 0.0
    costs = podium.admin.get(f"{path}/selection").json()["choices"]
    over_time = podium.admin.get(f"{path}/medals-over-time?at=1000").json()["points"]
    evenly = podium.admin.get(f"{path}/medals-over-time").json()["points"]
    assert evenly["selected"][-1]["any_medal"] == 0.0
    by_choice = {one["choice"]: one["medals"]["choice"] for one in costs}
    assert by_choice == {"last": 100.0, "selected": 0.0, "best-public": 100.0}
    assert {choice: points[0]["any_medal"] for choice, points in over_time.items()} == {
        **by_choice, "oracle": 100.0,
    }  # fmt: skip
