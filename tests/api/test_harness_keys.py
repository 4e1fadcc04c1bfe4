"""A harness's key: the runs of one experiment, their files and grades, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.api.conftest import CSV, WAIT, Podium
from tests.forkserver import run_podium


def test_a_harness_makes_a_run_sends_its_file_and_reads_its_whole_grade(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    experiment = podium.experiment()
    harness = podium.client(podium.harness_key(experiment))
    body = {"experiment": experiment, "competition": tiny.name, "seed": 3, "feedback": "none"}

    run = harness.post("/v1/runs", json=body)
    assert run.status_code == 201, run.text
    run_id, agent = run.json()["id"], podium.client(run.json()["key"])
    sent = harness.post(f"/v1/runs/{run_id}/submissions", content=good, headers=WAIT)

    assert sent.status_code == 201, sent.text
    assert sent.json()["grade"]["score"] == pytest.approx(0.12)
    assert sent.json()["grade"]["flags"] == []
    shown = harness.get(f"/v1/submissions/{sent.json()['id']}").json()
    assert shown["grade"] == sent.json()["grade"]
    # The policy binds the run's own key as before.
    assert agent.get(f"/v1/submissions/{sent.json()['id']}").json()["state"] == "received"
    again = harness.post("/v1/runs", json=body)
    assert (again.status_code, again.json()["run"]) == (409, run_id)


def test_the_ledger_tells_apart_the_agent_and_the_harness(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="public")
    harness = podium.client(podium.harness_key(run.document["experiment"]))
    run.validate(good)
    sent = run.submit(good).json()["id"]
    for _ in range(2):
        assert harness.get(f"/v1/submissions/{sent}").json()["grade"]["medal"] is not None
        harness.post(f"/v1/runs/{run.id}/validate", content=good, headers=CSV)

    ledger = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()
    of_run = run.client.get(f"/v1/runs/{run.id}/exposure").json()

    to_agent = {
        "validations": 1,
        "search_scores": 0,
        "public_scores": 1,
        "private_scores": 0,
        "failures": 0,
    }
    assert ledger["totals"] == of_run["totals"] == to_agent
    assert ledger["harness_totals"] == {
        "validations": 2, "search_scores": 0, "public_scores": 1, "private_scores": 1,
        "failures": 0,
    }  # fmt: skip
    assert of_run["harness_totals"] is None
    assert {one["to"] for one in of_run["disclosed"]} == {"agent"}
    assert len(ledger["disclosed"]) == len(of_run["disclosed"]) + 4
    rates = podium.admin.get(
        f"/v1/experiments/{run.document['experiment']}/medal-rates", params={"padding": "fail"}
    )
    exposure = rates.json()["exposure"]
    assert exposure["totals"] == to_agent
    assert exposure["harness_totals"] == ledger["harness_totals"]


def test_another_experiments_runs_do_not_exist_for_it(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny, feedback="full")
    sent = run.submit(good).json()["id"]
    other = podium.experiment()
    harness = podium.client(podium.harness_key(other))

    for method, path in (
        ("GET", f"/v1/runs/{run.id}"),
        ("GET", f"/v1/runs/{run.id}/submissions"),
        ("GET", f"/v1/submissions/{sent}"),
        ("POST", f"/v1/runs/{run.id}/submissions"),
        ("POST", f"/v1/runs/{run.id}/validate"),
    ):
        found = harness.request(method, path, content=good, headers=CSV)
        unknown = harness.request(
            method, path.replace(run.id, "run_0").replace(sent, "sub_0"), content=good, headers=CSV
        )
        assert found.status_code == unknown.status_code == 404, path
        hidden = found.json()["detail"].replace(run.id, "run_0").replace(sent, "sub_0")
        assert hidden == unknown.json()["detail"]
    body = {"experiment": run.document["experiment"], "competition": tiny.name, "seed": 9}
    nothing = {**body, "experiment": "no-such-experiment"}
    answers = [harness.post("/v1/runs", json=one) for one in (body, nothing)]
    assert [one.status_code for one in answers] == [404, 404]


def test_it_makes_no_run_whose_key_reads_the_leaderboard(podium: Podium, tiny: Path) -> None:
    experiment = podium.experiment()
    harness = podium.client(podium.harness_key(experiment))
    body = {"experiment": experiment, "competition": tiny.name, "seed": 0, "feedback": "full"}

    assert harness.post("/v1/runs", json=body).status_code == 403
    assert harness.post("/v1/runs", json=body | {"feedback": "public"}).status_code == 201


def test_archiving_its_experiment_closes_the_key(podium: Podium, tiny: Path) -> None:
    experiment = podium.experiment()
    harness = podium.client(podium.harness_key(experiment))
    body = {"experiment": experiment, "competition": tiny.name, "seed": 0}
    assert harness.post("/v1/runs", json=body).status_code == 201

    archive = f"/v1/experiments/{experiment}/archive"
    assert podium.admin.post(archive, json={"reason": "a test"}).status_code == 200
    refused = harness.post("/v1/runs", json=body | {"seed": 1})

    assert refused.status_code == 403
    assert refused.json()["type"] == "/problems/run-archived"
    assert podium.admin.post(
        "/v1/keys", json={"role": "harness", "experiment": experiment}
    ).status_code == 409  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"role": "harness"}, 422),
        ({"role": "researcher", "experiment": "any"}, 422),
        ({"role": "harness", "experiment": "no-such-experiment"}, 404),
    ],
)
def test_role_and_experiment_have_to_fit(podium: Podium, body: dict[str, str], status: int) -> None:
    assert podium.admin.post("/v1/keys", json=body).status_code == status


def test_the_command_makes_a_harness_key(podium: Podium, tiny: Path) -> None:
    experiment = podium.experiment()

    def create(*more: str) -> subprocess.CompletedProcess[str]:
        return run_podium(
            ["keys", "create", "--role", "harness", *more],
            env=podium.server.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    key = create("--experiment", experiment).stdout.strip()
    without = create()

    assert key.startswith("pod_harness_")
    body = {"experiment": experiment, "competition": tiny.name, "seed": 0}
    assert podium.client(key).post("/v1/runs", json=body).status_code == 201
    assert without.returncode == 1
    assert "--experiment" in without.stderr
    assert experiment in {
        one["experiment"] for one in podium.admin.get("/v1/keys?limit=1000").json()["items"]
    }
