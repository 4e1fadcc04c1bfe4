"""Archived competitions, experiments and runs: hidden, named when asked for, restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Podium, Run

WHY = {"reason": "a test of the setup"}


def address(run: Run, kind: str) -> str:
    """The path of the run, its experiment or its competition."""
    document = run.document
    return {
        "run": f"/v1/runs/{run.id}",
        "experiment": f"/v1/experiments/{document['experiment']}",
        "competition": f"/v1/competitions/{document['competition']}",
    }[kind]


def archive(podium: Podium, run: Run, kind: str) -> dict[str, Any]:
    response = podium.admin.post(f"{address(run, kind)}/archive", json=WHY)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def slugs(podium: Podium, path: str, name: str, **params: Any) -> list[str]:
    found, cursor = [], None
    while True:
        page = podium.admin.get(
            path, params={"limit": 1000, **params, **({"cursor": cursor} if cursor else {})}
        ).json()
        found += [one[name] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


@pytest.fixture
def run(podium: Podium, own_tiny: Path, good: bytes) -> Run:
    """A run with a graded submission."""
    made = podium.run(own_tiny)
    assert made.submit(good).json()["state"] == "graded"
    return made


@pytest.mark.parametrize("kind", ["run", "experiment", "competition"])
def test_what_is_archived_is_named_with_time_reason_and_key(
    podium: Podium, run: Run, kind: str
) -> None:
    archived = archive(podium, run, kind)["archived"]

    shown = podium.admin.get(address(run, kind)).json()

    assert archived["reason"] == WHY["reason"]
    assert archived["by"].startswith("key_")
    assert shown["archived"] == archived


@pytest.mark.parametrize("kind", ["run", "experiment", "competition"])
def test_the_keys_of_an_archived_run_are_refused_and_work_again_when_it_is_restored(
    podium: Podium, run: Run, kind: str, good: bytes
) -> None:
    archive(podium, run, kind)

    refused = [
        run.client.get(f"/v1/runs/{run.id}"), run.submit(good), run.validate(good),
        run.client.post("/api/v1/competitions.CompetitionApiService/ListCompetitions", json={}),
    ]  # fmt: skip
    restored = podium.admin.post(f"{address(run, kind)}/restore", json={"reason": "a mistake"})

    assert [response.status_code for response in refused] == [403] * 4
    assert f"The {kind} of this key was archived" in refused[0].json()["detail"]
    assert WHY["reason"] not in "".join(response.text for response in refused)
    assert restored.json()["archived"] is None
    assert run.client.get(f"/v1/runs/{run.id}").json()["archived"] is None


@pytest.mark.parametrize("kind", ["run", "experiment", "competition"])
def test_lists_leave_out_what_is_archived_unless_asked(podium: Podium, run: Run, kind: str) -> None:
    path, name = {
        "run": ("/v1/runs", "id"),
        "experiment": ("/v1/experiments", "name"),
        "competition": ("/v1/competitions", "slug"),
    }[kind]
    own = address(run, kind).rpartition("/")[2]

    before = slugs(podium, path, name)
    archive(podium, run, kind)

    assert own in before
    assert own not in slugs(podium, path, name)
    assert own in slugs(podium, path, name, archived=True)
    assert run.id not in slugs(podium, "/v1/runs", "id")


def test_runs_of_what_is_named_are_listed(podium: Podium, run: Run) -> None:
    archive(podium, run, "experiment")
    archive(podium, run, "competition")
    experiment, competition = run.document["experiment"], run.document["competition"]

    named = slugs(podium, "/v1/runs", "id", experiment=experiment, competition=competition)
    half = slugs(podium, "/v1/runs", "id", experiment=experiment)

    assert (named, half) == ([run.id], [])


@pytest.mark.parametrize("kind", ["run", "experiment"])
def test_the_results_of_a_competition_leave_out_what_is_archived(
    podium: Podium, run: Run, kind: str
) -> None:
    path = f"/v1/competitions/{run.document['competition']}/results"
    archive(podium, run, kind)

    assert podium.admin.get(path).json()["items"] == []
    (only,) = podium.admin.get(path, params={"archived": True}).json()["items"]
    assert only["run"] == run.id


def test_rates_leave_out_archived_runs_and_competitions(
    podium: Podium, run: Run, good: bytes
) -> None:
    other = podium.competition()
    body = {"experiment": run.document["experiment"], "competition": other.name, "seed": 0}
    made = podium.admin.post("/v1/runs", json=body).json()
    second = Run(made["id"], made, podium.client(made["key"]))
    second.submit(b"nonsense")
    podium.admin.patch(f"/v1/runs/{second.id}", json={"state": "closed"})
    rates = f"/v1/experiments/{run.document['experiment']}/medal-rates"

    def valid(**params: Any) -> float:
        answer = podium.admin.get(rates, params=params).json()
        assert answer["archived"] is bool(params)
        share: float = answer["groups"]["all"]["valid_submission"]["mean"]
        return share

    assert valid() == 50
    archive(podium, second, "run")
    assert (valid(), valid(archived=True)) == (100, 50)
    podium.admin.post(f"/v1/runs/{second.id}/restore", json=WHY)
    assert valid() == 50
    archive(podium, second, "competition")
    assert (valid(), valid(archived=True)) == (100, 50)


def test_an_archived_experiment_is_not_on_the_board_and_has_rates_by_its_name(
    podium: Podium, run: Run
) -> None:
    name = run.document["experiment"]
    before = podium.admin.get("/v1/medal-rates").json()
    archive(podium, run, "experiment")

    def on_board(answer: dict[str, Any]) -> bool:
        return name in str(answer)

    assert on_board(before)
    assert not on_board(podium.admin.get("/v1/medal-rates").json())
    assert on_board(podium.admin.get("/v1/medal-rates?archived=true").json())
    assert podium.admin.get(f"/v1/experiments/{name}/medal-rates").status_code == 200


@pytest.mark.parametrize("kind", ["experiment", "competition"])
def test_no_run_is_made_of_what_is_archived(podium: Podium, run: Run, kind: str) -> None:
    archive(podium, run, kind)
    body = {name: run.document[name] for name in ("experiment", "competition")}

    refused = podium.admin.post("/v1/runs", json={**body, "seed": 1})

    assert refused.status_code == 409
    assert WHY["reason"] in refused.json()["detail"]
    assert "Restore it first" in refused.json()["detail"]


def test_archiving_twice_and_restoring_what_is_not_archived_are_conflicts(
    podium: Podium, run: Run
) -> None:
    path = address(run, "run")
    archive(podium, run, "run")

    again = podium.admin.post(f"{path}/archive", json={"reason": "another"})
    restored = [podium.admin.post(f"{path}/restore", json=WHY).status_code for _ in range(2)]
    archived_again = podium.admin.post(f"{path}/archive", json={"reason": "another"})

    assert again.status_code == 409
    assert WHY["reason"] in again.json()["detail"]
    assert restored == [200, 409]
    assert archived_again.json()["archived"]["reason"] == "another"


def test_a_reason_is_needed_and_the_name_must_be_known(podium: Podium, run: Run) -> None:
    path = address(run, "run")

    assert podium.admin.post(f"{path}/archive", json={}).status_code == 422
    assert podium.admin.post(f"{path}/archive", json={"reason": ""}).status_code == 422
    assert podium.admin.post("/v1/runs/run_none/archive", json=WHY).status_code == 404
    assert podium.admin.post("/v1/competitions/none/archive", json=WHY).status_code == 404


@pytest.mark.parametrize("verb", ["archive", "restore"])
@pytest.mark.parametrize("kind", ["run", "experiment", "competition"])
def test_a_blank_reason_is_refused(podium: Podium, run: Run, kind: str, verb: str) -> None:
    if verb == "restore":
        archive(podium, run, kind)

    refused = podium.admin.post(f"{address(run, kind)}/{verb}", json={"reason": " \u00a0 "})

    assert refused.status_code == 422
    assert "say why" in refused.json()["detail"]
