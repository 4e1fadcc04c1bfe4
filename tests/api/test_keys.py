"""Keys over HTTP, and further keys of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.conftest import Podium


def test_an_admin_makes_lists_and_revokes_keys(podium: Podium) -> None:
    made = podium.admin.post(
        "/v1/keys", json={"role": "researcher", "name": "Ada", "expires": "12h"}
    )
    assert made.status_code == 201, made.text
    key = made.json()
    client = podium.client(key["key"])

    assert client.get("/v1/experiments").status_code == 200
    listed = podium.admin.get("/v1/keys", params={"role": "researcher", "limit": 1000}).json()
    (own,) = [one for one in listed["items"] if one["id"] == key["id"]]
    assert (own["name"], own["role"], own["revoked_at"]) == ("Ada", "researcher", None)
    assert own["expires_at"] is not None
    assert "key" not in own
    assert {one["role"] for one in listed["items"]} == {"researcher"}

    revoked = podium.admin.delete(f"/v1/keys/{key['id']}")
    again = podium.admin.delete(f"/v1/keys/{key['id']}")
    assert revoked.json()["revoked_at"] is not None
    assert again.json() == revoked.json()
    assert client.get("/v1/experiments").status_code == 401
    assert podium.admin.delete("/v1/keys/key_none").status_code == 404


@pytest.mark.parametrize(
    "body",
    [{}, {"role": "run"}, {"role": "admin", "expires": "soon"}, {"role": "admin", "x": 1}],
)
def test_a_key_that_cannot_be_is_refused(podium: Podium, body: dict[str, object]) -> None:
    assert podium.admin.post("/v1/keys", json=body).status_code == 422


def test_a_date_in_place_of_a_lifetime_is_told_what_a_lifetime_is(podium: Podium) -> None:
    body = {"role": "researcher", "expires": "2027-01-01"}
    detail = podium.admin.post("/v1/keys", json=body).json()["detail"]
    assert detail == "'2027-01-01' is not a lifetime: write hours or days, as 12h or 90d."


def test_a_run_gets_a_further_key_and_keeps_the_first(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)
    researcher = podium.client(podium.researcher_key())

    made = researcher.post(f"/v1/runs/{run.id}/keys", json={})

    assert made.status_code == 201, made.text
    assert made.json()["revoked"] == []
    for client in (run.client, podium.client(made.json()["key"])):
        assert client.get(f"/v1/runs/{run.id}").status_code == 200
    listed = podium.admin.get("/v1/keys", params={"run": run.id}).json()["items"]
    assert [one["run"] for one in listed] == [run.id] * 2


def test_the_keys_before_are_revoked_by_choice(podium: Podium, tiny: Path) -> None:
    run = podium.run(tiny)

    made = podium.admin.post(f"/v1/runs/{run.id}/keys", json={"revoke_others": True}).json()

    assert len(made["revoked"]) == 1
    assert run.client.get(f"/v1/runs/{run.id}").status_code == 401
    assert podium.client(made["key"]).get(f"/v1/runs/{run.id}").status_code == 200
    assert podium.admin.post("/v1/runs/run_none/keys", json={}).status_code == 404
