"""The noise of scores over HTTP: who may ask, what is kept, and what reports make of it."""

from __future__ import annotations

import asyncio
import gc
import random
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from app.api.uncertainty import result_of
from app.errors import Unavailable
from tests.api.conftest import Podium, Run
from tests.api.test_regrades import apply, regrade, with_wrong_answers
from tests.factories import good_submission, sample_submission
from tests.graders.conftest import wait_until

# 100 teams: gold from 0.82 up, silver from 0.62, bronze from 0.22.
LINES = tuple(0.02 * place for place in range(100))


def coin_competition(podium: Podium, **more: object) -> Path:
    given = {"rows": 400, "kind": "boolean", "leaderboard": LINES, **more}
    return podium.competition(**given)


def coin_file(folder: Path, right: float, seed: int = 0) -> bytes:
    """Answers of which about the share `right` is right."""
    chance = random.Random(seed)
    lines = good_submission(folder).decode().splitlines()
    other = {"True": "False", "False": "True"}
    cells = [line.split(",") for line in lines[1:]]
    kept = [[i, value if chance.random() < right else other[value]] for i, value in cells]
    return "\n".join([lines[0], *(",".join(row) for row in kept)]).encode()


def graded(run: Run, data: bytes) -> str:
    document = run.submit(data).json()
    submission: str = document["id"]
    return submission


def test_researchers_read_the_noise_of_a_score(podium: Podium) -> None:
    folder = coin_competition(podium)
    run = podium.run(folder)
    submission = graded(run, coin_file(folder, 0.8))
    path = f"/v1/submissions/{submission}/uncertainty"

    found = podium.client(podium.researcher_key()).get(path).json()

    score = podium.admin.get(f"/v1/submissions/{submission}").json()["grade"]["score"]
    assert found["score"] == score
    assert found["standard_error"] == pytest.approx((score * (1 - score) / 200) ** 0.5, rel=0.15)
    assert found["low"] < score < found["high"]
    assert (found["rows"], found["resamples"], found["undefined"]) == (200, 1000, 0)
    assert sum(found["medals"].values()) == pytest.approx(1.0)
    assert found["reason"] is None
    assert podium.admin.get(path).json() == found, "what was estimated is kept"


def test_many_who_ask_at_once_get_one_estimate(podium: Podium) -> None:
    folder = coin_competition(podium)
    submission = graded(podium.run(folder), coin_file(folder, 0.7))
    path = f"/v1/submissions/{submission}/uncertainty"

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: podium.admin.get(path).json(), range(8)))

    assert found[0]["standard_error"] is not None
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("policy", ["none", "validity", "public", "full"])
def test_no_agent_and_no_harness_learns_it(podium: Podium, policy: str) -> None:
    folder = coin_competition(podium)
    run = podium.run(folder, feedback=policy)
    submission = graded(run, coin_file(folder, 0.8))
    shown = f"/v1/submissions/{submission}"
    wait_until(lambda: podium.admin.get(shown).json()["state"] == "graded")
    name = run.document["experiment"]
    harness = podium.client(podium.harness_key(name))
    before = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()

    for path in (
        f"/v1/submissions/{submission}/uncertainty",
        f"/v1/experiments/{name}/uncertainty",
    ):
        refused = [run.client.get(path), harness.get(path)]
        assert [one.status_code for one in refused] == [403, 403]
        assert podium.client().get(path).status_code == 401
        assert podium.admin.get(path).status_code == 200
        assert all("0." not in one.text for one in refused)

    assert podium.admin.get(f"/v1/runs/{run.id}/exposure").json() == before


def test_without_a_grade_there_is_no_noise(podium: Podium) -> None:
    folder = coin_competition(podium)
    run = podium.run(folder)
    rejected = run.submit(b"id,target\nr1,maybe\n").json()["id"]

    refused = podium.admin.get(f"/v1/submissions/{rejected}/uncertainty")

    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/not-graded"
    assert "rejected" in refused.json()["detail"]
    assert podium.admin.get("/v1/submissions/sub_x/uncertainty").status_code == 404
    assert podium.client().get("/problems/not-graded").status_code == 200


def test_a_metric_py_gives_a_reason_instead(podium: Podium) -> None:
    text = "def score(answers, submission):\n    return 0.5\n"
    folder = podium.competition(metric_py=text, leaderboard=None)
    submission = graded(podium.run(folder), sample_submission(folder))

    found = podium.admin.get(f"/v1/submissions/{submission}/uncertainty").json()

    assert found["standard_error"] is None
    assert found["medals"] is None
    assert "metric.py" in found["reason"]


def test_reports_say_how_many_medals_are_within_their_noise(podium: Podium) -> None:
    folder = coin_competition(podium)
    name = podium.experiment()
    sent = {}
    for seed, right in enumerate((1.0, 0.22, 0.0)):
        body = {"experiment": name, "competition": folder.name, "seed": seed}
        document = podium.admin.post("/v1/runs", json=body).json()
        run = Run(document["id"], document, podium.client(document["key"]))
        sent[seed] = graded(run, exact_file(folder, right))
        podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    path = f"/v1/experiments/{name}/uncertainty"
    rates = f"/v1/experiments/{name}/medal-rates"

    unknown = podium.admin.get(path).json()
    assert [one["standard_error"] for one in unknown["items"]] == [None, None, None]
    assert podium.admin.get(rates).json()["noise"] == []
    for submission in sent.values():
        assert podium.admin.get(f"/v1/submissions/{submission}/uncertainty").status_code == 200

    found = podium.admin.get(path).json()
    assert [one["submission"] for one in found["items"]] == list(sent.values())
    assert [one["seed"] for one in found["items"]] == [0, 1, 2]
    (any_medal,) = [one for one in found["rates"] if one["rate"] == "any_medal"]
    assert any_medal == {
        "rate": "any_medal", "measured": 3, "unmeasured": 0, "won": 2, "won_within_noise": 1,
        "lost_within_noise": 0,
    }  # fmt: skip
    assert podium.admin.get(rates).json()["noise"] == found["rates"]
    for address in (path, rates):
        shown = podium.admin.get(address, headers={"Accept": "text/markdown"}).text
        assert "of 2 medals 1 is nearer to their line than their noise" in shown
    csv = podium.admin.get(path, headers={"Accept": "text/csv"}).text.splitlines()
    assert len(csv) == 4
    assert "chance_gold" in csv[0]


def test_the_noise_of_rates_is_that_of_the_runs_that_count(podium: Podium) -> None:
    folder = coin_competition(podium, toml='[[flags]]\ncode = "a_coin"\nnote = "A test."\n')
    run = podium.run(folder)
    submission = graded(run, exact_file(folder, 1.0))
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    other = {"experiment": run.document["experiment"], "competition": folder.name, "seed": 5}
    second = podium.admin.post("/v1/runs", json=other).json()
    podium.admin.patch(f"/v1/runs/{second['id']}", json={"state": "closed"})
    assert podium.admin.get(f"/v1/submissions/{submission}/uncertainty").status_code == 200
    rates = f"/v1/experiments/{run.document['experiment']}/medal-rates"

    def won(query: str) -> tuple[float, int]:
        found = podium.admin.get(f"{rates}?{query}").json()
        return found["groups"]["all"]["any_medal"]["mean"], found["noise"][0]["won"]

    assert won("") == (50.0, 1)
    assert won("exclude_flags=a_coin&excluded=fail") == (0.0, 0)
    why = {"decision": "exclude", "reason": "a leak"}
    assert podium.admin.post(f"/v1/runs/{run.id}/review", json=why).status_code == 200
    assert won("") == (0.0, 0)
    assert won("reviews=ignore") == (50.0, 1)


def exact_file(folder: Path, right: float) -> bytes:
    """Answers of which exactly this share of the private rows is right: they are every second."""
    lines = good_submission(folder).decode().splitlines()
    other = {"True": "False", "False": "True"}
    rows = [line.split(",") for line in lines[1:]]
    count = round(right * len(rows) / 2)
    kept = [[i, v if row // 2 < count else other[v]] for row, (i, v) in enumerate(rows)]
    return "\n".join([lines[0], *(",".join(row) for row in kept)]).encode()


def test_noise_that_was_asked_for_later_changes_no_rates_of_a_past_time(podium: Podium) -> None:
    folder = coin_competition(podium)
    run = podium.run(folder)
    submission = graded(run, coin_file(folder, 0.8))
    at = quote(datetime.now(UTC).isoformat())
    path = f"/v1/experiments/{run.document['experiment']}/medal-rates?as_of={at}"
    before = podium.admin.get(path).text

    assert podium.admin.get(f"/v1/submissions/{submission}/uncertainty").status_code == 200

    assert podium.admin.get(path).text == before
    assert podium.admin.get(path.partition("?")[0]).json()["noise"] != []


def test_a_score_that_a_regrade_gave_has_not_the_noise_of_the_first_grade(podium: Podium) -> None:
    folder, mended = with_wrong_answers(podium)
    run = podium.run(folder)
    submission = graded(run, good_submission(mended))
    name = run.document["experiment"]
    path = f"/v1/experiments/{name}/uncertainty"
    assert podium.admin.get(f"/v1/submissions/{submission}/uncertainty").status_code == 200
    (first,) = podium.admin.get(path).json()["items"]
    assert first["estimated_at"] is not None
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    assert podium.send_folder(mended).status_code == 201

    apply(podium, regrade(podium, folder, version=2))

    found = podium.admin.get(path).json()
    (one,) = found["items"]
    assert one["score"] < 1e-9 < 0.2 < first["score"]
    assert (one["standard_error"], one["medals"], one["estimated_at"]) == (None, None, None)
    assert one["reason"].startswith("a regrade gave the score")
    assert {(rate["measured"], rate["unmeasured"]) for rate in found["rates"]} == {(0, 1)}
    page = podium.admin.get(f"/submissions/{submission}", headers={"Accept": "text/html"}).text
    assert "not known: a regrade gave the score" in page
    listed = podium.admin.get("/", headers={"Accept": "text/html"})
    assert name in listed.text
    assert "within their noise" not in listed.text


def test_an_estimate_that_fails_after_its_request_ended_is_not_logged_by_asyncio(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def ask_and_go() -> None:
        estimate: Future[int] = Future()
        with pytest.raises(Unavailable, match="ask again"):
            await result_of(estimate, 0.01)
        estimate.set_exception(Unavailable("its process ended"))
        await asyncio.sleep(0.01)

    asyncio.run(ask_and_go())
    gc.collect()
    assert "never retrieved" not in caplog.text
