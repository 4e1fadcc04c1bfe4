"""The numbers on pages are those of their JSON twins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.domain.states import ArchivalKind
from app.services.results.inputs.attempts import attempt_of_run
from app.statistics.attempt_columns import Attempt
from app.storage.queries import archive, exposure, results
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.overview.competition_counts import competition_counts
from app.storage.queries.overview.experiments import list_experiments
from tests.api.conftest import packed
from tests.factories import write_competition
from tests.storage.make import NOON, World, add_grade, add_run, make_grade
from tests.web.conftest import caller, visitor
from tests.web.dataset import Filled
from tests.web.test_live import new_run, submit

CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
TAGS = re.compile(r"<[^>]+>")
RATES = ("any_medal", "gold", "silver", "bronze", "above_median")


def row_of(text: str, link: str) -> list[str]:
    """The texts of the cells of the row with this link in its heading."""
    row = text.split(f'href="{link}"')[1].split("</tr>")[0]
    return [TAGS.sub("", cell).strip() for cell in CELL.findall(row)]


def test_the_rates_of_the_list_are_those_of_the_json(filled: Filled) -> None:
    text = visitor(filled.server, filled.researcher).get("/").text

    for name in ("careful-agent", "quick agent & co"):
        address = "/v1/experiments/" + name.replace(" ", "%20").replace("&", "%26")
        found = caller(filled.server).get(f"{address}/medal-rates?padding=available").json()
        rates = found["groups"]["all"]
        cells = row_of(text, address.removeprefix("/v1"))
        shown = [cells[2], *cells[4:8]]
        assert shown == [f"{rates[rate]['mean']:.1f}" for rate in RATES]
        low, high = rates["any_medal"]["runs95"]
        assert f"95 % interval {low:.1f} to {high:.1f}" in text
        assert cells[9] == f"{rates['valid_submission']['mean']:.1f}"
        assert cells[12] == str(len(found["missing"]))


def test_the_cells_of_the_heat_map_are_the_attempts_of_the_json(filled: Filled) -> None:
    text = visitor(filled.server, filled.researcher).get("/experiments/careful-agent").text

    for slug in filled.slugs[:10]:
        items = caller(filled.server).get(f"/v1/competitions/{slug}/results").json()["items"]
        for one in items:
            if one["experiment"] == "careful-agent" and one["medal"]:
                cell = f'<a class="cell {one["medal"]}" href="/runs/{one["run"]}"'
                assert cell in text
    rates = caller(filled.server).get(
        "/v1/experiments/careful-agent/medal-rates?padding=available"
    )  # fmt: skip
    assert f"<b>{rates.json()['groups']['all']['any_medal']['mean']:.1f} %</b>" in text


def test_an_experiment_says_over_how_many_competitions_its_rates_are(filled: Filled) -> None:
    submit(filled, new_run(filled, "half-done"))
    body = {"experiment": "half-done", "competition": filled.slugs[3], "seed": 0}
    assert caller(filled.server).post("/v1/runs", json=body).is_success

    text = visitor(filled.server, filled.researcher).get("/experiments/half-done").text

    assert "over 1 competition and 1 seed: gold" in text
    assert "At 1 of its 2 competitions nothing has a result: the rates are of the others." in text
    assert "padding=available" not in text  # it refuses an experiment without a result at one


def test_an_experiment_without_rates_says_why_and_speaks_of_none(
    filled: Filled, tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "no-board", leaderboard=None)
    archive = {"archive": ("a.tar.gz", packed(folder))}
    admin = caller(filled.server)
    assert admin.post("/v1/competitions", files=archive).status_code == 201
    admin.post("/v1/experiments", json={"name": "no-rates", "agent": "a", "model": "m"})
    for seed in (0, 1):
        body = {"experiment": "no-rates", "competition": "no-board", "seed": seed}
        assert admin.post("/v1/runs", json=body).status_code == 201

    text = visitor(filled.server, filled.researcher).get("/experiments/no-rates").text

    assert "at a competition without a human leaderboard no medal can be won" in text
    assert "2 of 2 runs have no graded result.</p>" in text
    assert "these rates" not in text


def test_the_board_has_the_order_and_numbers_of_the_json(filled: Filled) -> None:
    text = visitor(filled.server, filled.researcher).get("/suites/tiny").text
    items = caller(filled.server).get("/v1/medal-rates?suite=tiny&padding=fail").json()["items"]

    at = [text.index(f"<b>{one['groups']['all']['any_medal']['mean']:.1f}</b>") for one in items]
    assert at == sorted(at)


@pytest.fixture
def world(database: object) -> World:
    from tests.storage.make import make_world

    return make_world(database)  # type: ignore[arg-type]


def test_the_counts_of_the_list_follow_the_rule_of_attempts(world: World) -> None:
    """Every combination of a run's state and submissions, on both databases."""
    seed = 10
    for state in ("open", "closed"):
        for sent in ([], ["queued"], ["failed"], ["rejected"], ["graded"], ["graded", "rejected"],
                     ["rejected", "queued"], ["graded", "failed"], ["grading"]):  # fmt: skip
            seed += 1
            usage = {"seconds": 60.5, "cost_usd": 0.5} if seed % 2 else None
            run = add_run(
                world.database, world.version, "first", seed=seed, state=state, usage=usage
            )
            for each in sent:
                one = World(world.database, world.version, run, run).submit(state=each)
                if each == "graded":
                    grade = make_grade(one, medal="gold", better=1, equal=1, worse=8,
                                       above_median=True)  # fmt: skip
                    world.database.write(lambda s, grade=grade: add_grade(s, grade))
    with world.database.read() as session:
        runs = list(results.run_results(session, experiments=["first"]))
        (found,) = competition_counts(session, ["first"])
        (listed,), total = list_experiments(session, name="first", limit=5)
    attempts = [one for one in map(attempt_of_run, runs) if isinstance(one, Attempt)]

    assert (found.runs, found.counted) == (len(runs), len(attempts))
    assert found.gold == sum(one.outcomes[1] for one in attempts) > 0
    assert found.valid == sum(one.valid for one in attempts)
    assert found.above_median == sum(one.above_median for one in attempts)
    assert found.percentiles == pytest.approx(90.0 * found.placed)
    assert listed.spent == pytest.approx(
        {"timed": 9, "seconds": 9 * 60.5, "priced": 9, "cost_usd": 4.5}
    )
    assert (listed.experiment.name, listed.imported, total) == ("first", False, 1)


def test_scores_told_to_archived_runs_are_not_in_the_list(world: World) -> None:
    sent = world.submit(state="graded")
    grade = world.database.write(lambda s: add_grade(s, make_grade(sent)))
    told = (world.run.id, "public_score", sent.id, grade.id, NOON)
    world.database.write(lambda session: exposure.record(session, *told))
    entry = ArchivalRecord(
        kind=ArchivalKind.RUN, name=world.run.id, archived_at=NOON, reason="a wrong image"
    )

    def listed() -> int:
        with world.database.read() as session:
            (found,), _ = list_experiments(session, name="first", limit=1)
            shown = exposure.by_experiment(session, ["first"]).get("first", {})
        assert found.disclosed["public_score"] == shown.get("public_score", 0)
        return found.disclosed["public_score"]

    assert listed() == 1
    world.database.write(lambda session: archive.archive(session, entry))
    assert listed() == 0


def test_what_agents_of_imported_runs_were_told_is_not_known(filled: Filled) -> None:
    """They were shown as runs of the policy `none`, whose agents were told nothing."""
    body = {"name": "elsewhere", "agent": "a", "model": "m"}
    admin = caller(filled.server)
    assert admin.post("/v1/experiments", json=body).is_success
    query = f"competition={filled.slugs[1]}&file=results.json"
    done = {"traces/1.json": {"final_score": 0.5, "score": [0.5]}}
    path = f"/v1/experiments/elsewhere/mlagentbench-results?{query}"
    assert admin.post(path, json=done).is_success
    (run,) = admin.get("/v1/runs?experiment=elsewhere").json()["items"]

    browser = visitor(filled.server, filled.researcher)
    text = browser.get(f"/runs/{run['id']}").text
    assert "<dt>Imported from</dt><dd><bdi>results.json: traces/1.json</bdi></dd>" in text
    assert "<dt>Feedback</dt><dd>not known</dd>" in text
    assert "<dt>Told to the agent</dt><dd>not known ·" in text
    facts = browser.get(f"/runs/{run['id']}?format=json").json()
    assert facts["imported_from"] == run["imported_from"]
    assert (facts["feedback"], facts["told"]) == (None, None)
    page = browser.get("/experiments/elsewhere").text
    assert "<dt>Feedback to the agent</dt><dd>not known; told" in page
    facts = browser.get("/experiments/elsewhere?format=json").json()
    assert (facts["feedback"], facts["imported"]) == ({}, True)
    assert admin.post("/v1/experiments/elsewhere/archive", json={"reason": "a test"}).is_success


def test_the_numbers_of_a_picture_are_those_of_the_json(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    drawn = browser.get("/suites/tiny/medal-rates.vl.json").text
    items = caller(filled.server).get("/v1/medal-rates?suite=tiny&padding=fail").json()["items"]

    for item in items:
        rates = item["groups"]["all"]
        for number in (rates["any_medal"]["mean"], *(rates["any_medal"]["runs95"] or ())):
            assert str(number) in drawn
    answer = browser.get("/suites/tiny/medal-rates.svg")
    assert answer.headers["Content-Type"] == "image/svg+xml"
    again = browser.get(
        "/suites/tiny/medal-rates.svg", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304
    assert browser.get("/suites/tiny/medal-rates.gif").status_code == 404


def test_a_browser_behind_a_proxy_that_packs_is_not_sent_a_picture_again(filled: Filled) -> None:
    browser = visitor(filled.server, filled.researcher)
    address = "/suites/tiny/medal-rates.csv"
    tag = browser.get(address).headers["ETag"]

    def asked(tags: str) -> int:
        return browser.get(address, headers={"If-None-Match": tags}).status_code

    assert [asked(f"W/{tag}"), asked(f'"other", {tag}'), asked("*")] == [304, 304, 304]
    assert asked('"other"') == 200
