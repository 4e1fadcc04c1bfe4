from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.conftest import Podium

RESEARCHER_ONLY = [
    ("GET", "/v1/experiments"),
    ("GET", "/v1/experiments/x"),
    ("POST", "/v1/experiments"),
    ("POST", "/v1/runs"),
]


def test_it_asks_for_a_key(podium: Podium) -> None:
    response = podium.client().get("/v1/competitions")

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert response.headers["Content-Type"] == "application/problem+json"
    assert "Authorization: Bearer" in response.json()["detail"]


@pytest.mark.parametrize("key", ["wrong", "pod_admin_" + "A" * 32, "pod_run_é".encode().hex()])
def test_it_refuses_an_unknown_key(podium: Podium, key: str) -> None:
    assert podium.client(key).get("/v1/competitions").status_code == 401


def test_it_takes_the_key_as_a_basic_password(podium: Podium) -> None:
    response = podium.client().get("/v1/competitions", auth=("anybody", podium.server.key))

    assert response.status_code == 200


def test_a_runs_key_may_not_do_what_a_researcher_does(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    for method, path in RESEARCHER_ONLY:
        body = {"name": "n", "agent": "a", "model": "m"} if "experiments" in path else {
            "experiment": "e", "competition": "c", "seed": 0
        }  # fmt: skip
        response = run.client.request(method, path, json=body if method == "POST" else None)
        assert response.status_code == 403, (method, path)
    for path in ("leaderboard", "standing?score=0.5"):
        response = run.client.get(f"/v1/competitions/{tiny.name}/{path}")
        assert response.status_code == 403
    assert run.client.patch(f"/v1/runs/{run.id}", json={"state": "closed"}).status_code == 403
    files = {"archive": ("a.zip", b"PK", "application/zip")}
    assert run.client.post("/v1/competitions", files=files).status_code == 403


def test_another_runs_things_do_not_exist_for_a_runs_key(
    podium: Podium, tiny: Path, good: bytes
) -> None:
    mine, other = podium.run(tiny), podium.run(tiny)
    submission = other.submit(good).json()["id"]

    for path in (
        f"/v1/runs/{other.id}",
        f"/v1/runs/{other.id}/submissions",
        f"/v1/runs/{other.id}/exposure",
        f"/v1/submissions/{submission}",
        f"/v1/submissions/{submission}/file",
    ):
        assert mine.client.get(path).status_code == 404, path
    body = {"content": good, "headers": {"Content-Type": "text/csv"}}
    assert mine.client.post(f"/v1/runs/{other.id}/submissions", **body).status_code == 404
    assert mine.client.post(f"/v1/runs/{other.id}/validate", **body).status_code == 404
    chosen = mine.client.put(f"/v1/runs/{mine.id}/selected", json={"submission": submission})
    assert chosen.status_code == 404


def test_lists_show_a_runs_key_its_own_alone(podium: Podium, tiny: Path) -> None:
    podium.competition()
    podium.run(tiny)
    run = podium.run(tiny)

    competitions = run.client.get("/v1/competitions").json()["items"]
    runs = run.client.get("/v1/runs").json()["items"]

    assert [c["slug"] for c in competitions] == [tiny.name]
    assert [r["id"] for r in runs] == [run.id]


def test_another_competition_does_not_exist_for_a_runs_key(podium: Podium, tiny: Path) -> None:
    other = podium.competition()
    run = podium.run(tiny)

    for path in ("", "/description", "/files", "/files/train.csv", "/sample-submission"):
        assert run.client.get(f"/v1/competitions/{other.name}{path}").status_code == 404
        assert run.client.get(f"/v1/competitions/{tiny.name}{path}").status_code == 200
