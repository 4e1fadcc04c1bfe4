from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.api.conftest import Podium

RESOURCES = {
    "hours": 24.0, "cpus": 8.0, "gpus": 1.0, "gpu_kind": "A10", "memory_gb": 64.0,
    "internet": False,
}  # fmt: skip


def test_the_same_experiment_again_is_the_one_that_is_there(podium: Podium) -> None:
    body = {"name": f"twice-{podium.experiment()}", "agent": "a", "model": "m",
            "resources": RESOURCES}  # fmt: skip
    first = podium.admin.post("/v1/experiments", json=body)
    again = podium.admin.post("/v1/experiments", json=body)
    other = podium.admin.post("/v1/experiments", json={**body, "model": "another"})

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json() == again.json()
    assert first.json()["resources"] == RESOURCES
    assert "other model" in other.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "", "agent": "a", "model": "m"},
        {"name": "a/b", "agent": "a", "model": "m"},
        {"name": "nul\x00", "agent": "a", "model": "m"},
        {"name": "n" * 201, "agent": "a", "model": "m"},
        {"name": "n", "agent": "a", "model": "m", "surprise": 1},
        {"name": "n", "agent": "a", "model": "m", "resources": {"hours": -1}},
        {"name": "n", "agent": "a", "model": "m", "notes": 7},
    ],
)
def test_an_experiment_that_cannot_be_is_refused(podium: Podium, body: dict[str, object]) -> None:
    response = podium.admin.post("/v1/experiments", json=body)

    assert response.status_code == 422
    assert response.json()["errors"]


def test_experiments_are_listed_by_name_in_pages(podium: Podium) -> None:
    names = sorted(podium.experiment() for _ in range(3))
    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = podium.admin.get("/v1/experiments", params=params).json()
        seen += [e["name"] for e in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert [name for name in seen if name in names] == names
    assert len(seen) == len(set(seen))


def test_a_new_run_has_a_key_that_is_shown_once(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)

    assert run.document["key"].startswith("pod_run_")
    assert len(run.document["key"]) >= len("pod_run_") + 22
    assert run.document["feedback"] == "validity"
    assert run.document["final"] == "last"
    shown = podium.admin.get(f"/v1/runs/{run.id}").json()
    assert "key" not in shown
    assert shown == {k: v for k, v in run.document.items() if k != "key"}


def test_an_experiment_has_one_run_a_seed_at_a_competition(podium: Podium, tiny: Path) -> None:
    body = {"experiment": podium.experiment(), "competition": tiny.name, "seed": 3}

    statuses = [podium.admin.post("/v1/runs", json=body).status_code for _ in range(2)]
    other_seed = podium.admin.post("/v1/runs", json={**body, "seed": 4})

    assert statuses == [201, 409]
    assert other_seed.status_code == 201


def test_a_run_needs_an_experiment_and_a_competition(podium: Podium, tiny: Path) -> None:
    name = podium.experiment()
    no_experiment = {"experiment": "nowhere", "competition": tiny.name, "seed": 0}
    no_competition = {"experiment": name, "competition": "nowhere", "seed": 0}

    for body in (no_experiment, no_competition):
        response = podium.admin.post("/v1/runs", json=body)
        assert response.status_code == 404
        assert "nowhere" in response.json()["detail"]


@pytest.mark.parametrize(
    "change",
    [{"seed": "0"}, {"seed": 1.5}, {"seed": 2**40}, {"feedback": "everything"},
     {"limits": {"hours": 0}}, {"limits": {"submissions_total": 0}}, {"limits": {"x": 1}}],
)  # fmt: skip
def test_a_run_that_cannot_be_is_refused(
    podium: Podium, tiny: Path, change: dict[str, object]
) -> None:
    body = {"experiment": podium.experiment(), "competition": tiny.name, "seed": 0, **change}

    assert podium.admin.post("/v1/runs", json=body).status_code == 422


def test_runs_are_found_by_experiment_and_competition(podium: Podium, own_tiny: Path) -> None:
    run, other = podium.run(own_tiny), podium.run(own_tiny)

    by_experiment = podium.admin.get(
        "/v1/runs", params={"experiment": run.document["experiment"]}
    ).json()["items"]
    by_competition = podium.admin.get("/v1/runs", params={"competition": own_tiny.name}).json()[
        "items"
    ]

    assert [r["id"] for r in by_experiment] == [run.id]
    assert [r["id"] for r in by_competition] == [run.id, other.id]


def test_usage_and_failure_are_noted_and_closing_is_final(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    run = podium.run(tiny)
    path = f"/v1/runs/{run.id}"

    podium.admin.patch(path, json={"usage": {"seconds": 12.5, "steps": 3}})
    closed = podium.admin.patch(
        path, json={"state": "closed", "usage": {"cost_usd": 0.25}, "failure": "out_of_memory"}
    ).json()
    again = podium.admin.patch(path, json={"state": "closed"}).json()

    assert closed["state"] == "closed"
    assert closed["usage"]["seconds"] == 12.5
    assert closed["usage"]["cost_usd"] == 0.25
    assert closed["failure"] == "out_of_memory"
    assert datetime.fromisoformat(closed["closed_at"]).utcoffset() is not None
    assert again["closed_at"] == closed["closed_at"]
    for response in (run.submit(good), run.validate(good)):
        assert response.status_code == 409
        assert response.json()["type"] == "/problems/run-closed"


def test_a_run_is_not_opened_again(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)

    refused = podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "open"})
    assert refused.status_code == 422
    assert refused.json()["detail"] == "body.state: Input should be 'closed'"


@pytest.mark.parametrize("field", ["agent", "model"])
@pytest.mark.parametrize(
    "text", ["a\u202eb", "a\u200bb", "a\u2028b", " m ", "m ", " ", "\u00a0m", ""]
)
def test_an_agent_or_model_that_misleads_is_refused(podium: Podium, field: str, text: str) -> None:
    name = podium.experiment()
    body = {"name": f"{name}-other", "agent": "a", "model": "m", field: text}
    response = podium.admin.post("/v1/experiments", json=body)
    assert response.status_code == 422
    assert field in response.json()["detail"]
    change = {"reason": "a better word", field: text}
    response = podium.admin.patch(f"/v1/experiments/{name}", json=change)
    assert response.status_code == 422
    assert field in response.json()["detail"]


def test_ordinary_agents_and_models_are_taken(podium: Podium) -> None:
    for text in (
        "AIDE [v2]",
        "*starred*",
        "gpt-4o (2024-08-06)",
        "エージェント",
        "עברית",
        "é",
        "a / b",
    ):
        body = {"name": f"{podium.experiment()}-other", "agent": text, "model": text}
        assert podium.admin.post("/v1/experiments", json=body).status_code == 201


@pytest.mark.parametrize("field", ["seconds", "cost_usd"])
def test_no_usage_is_so_large_that_sums_of_it_are_infinite(
    podium: Podium, tiny: Path, field: str
) -> None:
    runs = [podium.run(tiny) for _ in range(2)]
    for run in runs:
        path = f"/v1/runs/{run.id}"
        assert podium.admin.patch(path, json={"usage": {field: 1e308}}).status_code == 422
        assert podium.admin.patch(path, json={"usage": {field: 2.0**53}}).status_code == 200

    name = runs[0].document["experiment"]
    another = {"experiment": name, "competition": tiny.name, "seed": 1}
    made = podium.admin.post("/v1/runs", json=another).json()
    usage = {"usage": {field: 2.0**53}}
    assert podium.admin.patch(f"/v1/runs/{made['id']}", json=usage).status_code == 200
    login = podium.client()
    assert login.post("/login", data={"key": podium.server.key}).status_code < 400
    assert login.get("/", headers={"Accept": "text/html"}).status_code == 200


def test_a_request_that_names_no_experiment_says_which_field_is_missing(podium: Podium) -> None:
    body = {"competition": podium.competition().name, "seed": 0}
    made = podium.admin.post("/v1/runs", json=body)
    graded = podium.admin.post(f"/v1/competitions/{body['competition']}/grade", content=b"id\n1\n",
                               headers={"Content-Type": "text/csv"})  # fmt: skip

    for answer, where in ((made, "body.experiment"), (graded, "query.experiment")):
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["where"] == where
        assert answer.json()["detail"] == f"{where}: {error['message']}."
