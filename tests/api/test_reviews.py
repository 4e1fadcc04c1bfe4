"""The review queue over HTTP: planted cheats are found, honest runs are not, and people decide."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Podium, Run
from tests.api.test_results import add_run, rates
from tests.factories import good_submission, sample_submission

SECONDS = 30
BOARD = [1.0 + 0.1 * place for place in range(40)]  # of a loss: the best team is far from perfect


def board_competition(podium: Podium, **given: Any) -> Path:
    return podium.competition(rows=80, leaderboard=BOARD, **given)


def item(podium: Podium, run: Run, *signals: str, **query: str) -> dict[str, Any]:
    """The run in the queue, once it has these signals."""
    until = time.monotonic() + SECONDS
    found: dict[str, Any] = {}
    while time.monotonic() < until:
        asked = podium.admin.get(
            "/v1/reviews", params={"experiment": run.document["experiment"], **query}
        )
        assert asked.status_code == 200, asked.text
        found = next((one for one in asked.json()["items"] if one["run"] == run.id), {})
        if set(signals) <= {one["signal"] for one in found.get("signals", ())}:
            return found
        time.sleep(0.05)
    raise AssertionError(f"no {signals}: {found}")


def levels(found: dict[str, Any]) -> dict[str, str]:
    return {one["signal"]: one["level"] for one in found["signals"]}


def experiment(podium: Podium, agent: str) -> str:
    name = podium.experiment()
    change = {"agent": agent, "reason": "another agent"}
    assert podium.admin.patch(f"/v1/experiments/{name}", json=change).status_code == 200
    return name


def noisy(folder: Path, seed: int, spread: float = 1.5, near: float = 0.0) -> bytes:
    """Predictions with errors of their own; `near` moves each by up to this share of itself."""
    import random

    chance, hand = random.Random(seed), random.Random(99)
    header, *rows = good_submission(folder).decode().splitlines()
    lines = [header]
    for row in rows:
        name, value = row.split(",")
        guess = float(value) + chance.gauss(0.0, spread)
        lines.append(f"{name},{guess * (1.0 + near * hand.uniform(-1.0, 1.0))!r}")
    return ("\n".join(lines) + "\n").encode()


def test_the_answers_themselves_are_found(podium: Podium) -> None:
    folder = board_competition(podium)
    run = podium.run(folder)
    run.submit(good_submission(folder))

    found = item(podium, run, "perfect_score", "beyond_humans", "fast_near_perfect")

    assert found["level"] == "review"
    assert levels(found)["perfect_score"] == "review"
    assert levels(found)["fast_near_perfect"] == "annotate"
    (perfect,) = [one for one in found["signals"] if one["signal"] == "perfect_score"]
    assert perfect["detail"] == {"score": 0.0, "bound": 0.0, "teams_as_good": 0}


def test_copies_between_agents_are_found_and_an_agent_s_own_are_a_remark(podium: Podium) -> None:
    folder = board_competition(podium)
    first = add_run(podium, experiment(podium, "one agent"), folder.name, 0)
    first.submit(noisy(folder, 1))
    header, *rows = noisy(folder, 1).decode().splitlines()
    runs = {
        "same_file": (noisy(folder, 1), "another agent"),
        "same_predictions": (("\n".join([header, *rows[::-1]]) + "\n").encode(), "another agent"),
        "near": (noisy(folder, 1, near=1e-4), "another agent"),
        "own": (noisy(folder, 1), "one agent"),
        "honest": (noisy(folder, 2), "another agent"),
    }
    made = {}
    for name, (body, agent) in runs.items():
        made[name] = add_run(podium, experiment(podium, agent), folder.name, 0)
        made[name].submit(body)

    for name, signal in [
        ("same_file",) * 2,
        ("same_predictions",) * 2,
        ("near", "same_predictions"),
    ]:
        found = item(podium, made[name], signal)
        (one,) = [one for one in found["signals"] if one["signal"] == signal]
        assert (one["level"], one["other_run"]) == ("review", first.id), name
    assert levels(item(podium, made["own"], "same_file")) == {"same_file": "annotate"}
    assert not podium.admin.get(f"/v1/runs/{made['honest'].id}/review").json()["signals"]


def test_the_sample_and_known_leaks_are_found_also_those_listed_later(podium: Podium) -> None:
    folder = board_competition(podium)
    header, *rows = sample_submission(folder).decode().splitlines()
    sample = podium.run(folder)
    sample.submit(("\n".join([header, *rows[::-1]]) + "\n").encode())
    leaked = noisy(folder, 3)
    before, after = podium.run(folder), podium.run(folder)
    before.submit(leaked)
    assert levels(item(podium, sample, "sample_submission")) == {"sample_submission": "annotate"}

    body = {"sha256": hashlib.sha256(leaked).hexdigest(), "note": "a public dataset has them"}
    path = f"/v1/competitions/{folder.name}/known-leaks"
    added = podium.admin.post(path, json=body)
    after.submit(leaked)

    assert (added.status_code, added.json()["submissions"]) == (201, 1)
    for run in (before, after):
        assert levels(item(podium, run, "known_leak"))["known_leak"] == "review"
    assert podium.admin.post(path, json=body).status_code == 409
    assert podium.admin.post(path, json={**body, "sha256": "xyz"}).status_code == 422
    assert [one["note"] for one in podium.admin.get(path).json()["items"]] == [body["note"]]
    assert podium.admin.delete(f"{path}/{body['sha256']}").status_code == 204
    assert podium.admin.delete(f"{path}/{body['sha256']}").status_code == 404


@pytest.mark.parametrize(("feedback", "level"), [("public", "review"), ("validity", "annotate")])
def test_probing_row_by_row_is_found(podium: Podium, feedback: str, level: str) -> None:
    folder = board_competition(podium)
    run = podium.run(folder, feedback=feedback)
    header, *rows = noisy(folder, 4).decode().splitlines()
    for at in range(10):
        changed = [*rows]
        changed[at] = rows[at].split(",")[0] + ",77.5"
        run.submit(("\n".join([header, *changed]) + "\n").encode())  # graded before the next

    found = item(podium, run, "probing")

    assert levels(found)["probing"] == level
    (probing,) = [one for one in found["signals"] if one["signal"] == "probing"]
    assert probing["detail"] == {"of_the_last": 9, "with_few_changed_rows": 8}


def test_a_public_score_far_from_the_private_one_is_found(podium: Podium) -> None:
    folder = board_competition(podium)
    run = podium.run(folder)
    truth = good_submission(folder).decode().splitlines()
    answers = (folder / "private" / "answers.csv").read_text().splitlines()
    public = {line.split(",")[0] for line in answers if line.endswith(",Public")}
    lines = [
        row if row.split(",")[0] in public or at == 0 else f"{row.split(',')[0]},90"
        for at, row in enumerate(truth)
    ]
    run.submit(("\n".join(lines) + "\n").encode())

    assert levels(item(podium, run, "public_far_from_private")) == {
        "public_far_from_private": "review"
    }


def test_an_excluded_run_leaves_the_rates_and_comes_back_when_accepted(podium: Podium) -> None:
    folder = board_competition(podium)
    name = podium.experiment()
    runs = [add_run(podium, name, folder.name, seed) for seed in range(2)]
    runs[0].submit(good_submission(folder))
    runs[1].submit(noisy(folder, 5, spread=9.0))
    for run in runs:
        assert podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).status_code == 200
    item(podium, runs[0], "perfect_score")
    before = rates(podium, name).json()
    assert before["groups"]["all"]["any_medal"]["mean"] == 50.0
    assert (before["excluded_runs"], before["with_excluded"]) == ([], None)

    why = {"decision": "exclude", "reason": "the answers were in its image"}
    decided = podium.admin.post(f"/v1/runs/{runs[0].id}/review", json=why)

    assert decided.status_code == 200, decided.text
    assert [one["reason"] for one in decided.json()["decisions"]] == [why["reason"]]
    assert podium.admin.post(f"/v1/runs/{runs[0].id}/review", json=why).status_code == 409
    without = rates(podium, name).json()
    assert without["groups"]["all"]["any_medal"]["mean"] == 0.0
    assert without["excluded_runs"] == [{"competition": folder.name, "seed": 0}]
    assert without["with_excluded"]["any_medal"] == 50.0
    assert without["missing"] == [
        {"competition": folder.name, "seed": 0, "reason": "excluded by a review"}
    ]
    ignored = rates(podium, name, "reviews=ignore").json()
    assert ignored["groups"]["all"]["any_medal"]["mean"] == 50.0
    assert "exclude 1 run; with them" in rates(podium, name, "", "text/markdown").text
    board = podium.admin.get("/v1/medal-rates", params={"experiments": name}).json()["items"]
    assert board[0]["groups"]["all"]["any_medal"]["mean"] == 0.0
    moment = before_decision(decided.json())
    then = rates(podium, name, f"as_of={moment}").json()
    assert then["groups"]["all"]["any_medal"]["mean"] == 50.0
    asked = podium.admin.get("/v1/reviews", params={"experiment": name, "state": "decided"})
    assert [one["decision"] for one in asked.json()["items"]] == ["exclude"]

    again = {"decision": "accept", "reason": "the image was another one"}
    assert podium.admin.post(f"/v1/runs/{runs[0].id}/review", json=again).status_code == 200
    assert rates(podium, name).json()["groups"]["all"]["any_medal"]["mean"] == 50.0
    entries = podium.admin.get("/v1/log/entries", params={"limit": 1000}).json()["items"]
    kinds = [one["kind"] for one in entries]
    assert kinds.index("exclusion") < len(kinds) - 1 - kinds[::-1].index("inclusion")


def before_decision(document: dict[str, Any]) -> str:
    from datetime import datetime, timedelta

    at = datetime.fromisoformat(document["decisions"][0]["at"])
    return (at - timedelta(microseconds=1)).isoformat().replace("+00:00", "Z")


def test_a_competition_whose_only_run_is_excluded_has_no_rate(podium: Podium) -> None:
    folder = board_competition(podium)
    name = podium.experiment()
    run = add_run(podium, name, folder.name, 0)
    run.submit(noisy(folder, 6))
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    why = {"decision": "exclude", "reason": "it ran on another machine"}
    podium.admin.post(f"/v1/runs/{run.id}/review", json=why)

    refused = rates(podium, name)

    assert refused.status_code == 409
    assert refused.json()["missing"][0]["reason"] == "excluded by a review"
    assert rates(podium, name, "padding=fail").json()["groups"]["all"]["any_medal"]["mean"] == 0.0


def test_an_excluded_run_leaves_success_rates_and_other_results(podium: Podium) -> None:
    folder = board_competition(podium, toml='[baseline]\nscore = 5.0\nsource = "starter code"\n')
    name = podium.experiment()
    runs = [add_run(podium, name, folder.name, seed) for seed in range(2)]
    runs[0].submit(good_submission(folder))
    runs[1].submit(noisy(folder, 7, spread=20.0))
    for run in runs:
        podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    why = {"decision": "exclude", "reason": "the answers were in its image"}
    assert podium.admin.post(f"/v1/runs/{runs[0].id}/review", json=why).status_code == 200

    found = podium.admin.get(f"/v1/experiments/{name}/success-rates").json()
    listed = podium.admin.get(f"/v1/competitions/{folder.name}/results").json()["items"]
    scores = podium.admin.get(f"/v1/experiments/{name}/scores").json()

    assert found["groups"]["all"]["success_rate"]["mean"] == 0.0
    assert [one["reason"] for one in found["missing"]] == ["excluded by a review"]
    assert [one["state"] for one in listed] == ["excluded by a review", "settled"]
    assert scores["excluded_runs"] == [{"competition": folder.name, "seed": 0}]


def test_agents_and_harnesses_learn_of_no_signal(podium: Podium) -> None:
    folder = board_competition(podium)
    run = podium.run(folder, feedback="full")
    sent = run.submit(good_submission(folder)).json()
    item(podium, run, "perfect_score")
    podium.admin.post(
        f"/v1/runs/{run.id}/review", json={"decision": "exclude", "reason": "zq-secret-reason"}
    )
    seen = [
        run.client.get(path).text
        for path in (
            f"/v1/runs/{run.id}", f"/v1/runs/{run.id}/submissions",
            f"/v1/submissions/{sent['id']}", f"/v1/runs/{run.id}/exposure",
            f"/v1/competitions/{folder.name}", "/SKILL.md",
        )
    ]  # fmt: skip

    for text in seen:
        assert not any(word in text for word in ("perfect_score", "signal", "zq-secret", "exclu"))


def test_what_does_not_exist_and_what_is_no_decision(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)

    assert podium.admin.get("/v1/runs/run_none/review").status_code == 404
    assert podium.admin.post(
        "/v1/runs/run_none/review", json={"decision": "accept", "reason": "x"}
    ).status_code == 404  # fmt: skip
    for body in ({"decision": "ban", "reason": "x"}, {"decision": "accept", "reason": " "}, {}):
        assert podium.admin.post(f"/v1/runs/{run.id}/review", json=body).status_code == 422
    assert podium.admin.get("/v1/reviews", params={"cursor": "x"}).status_code == 422
    assert podium.admin.get("/v1/reviews", params={"sginal": "probing"}).status_code == 422
