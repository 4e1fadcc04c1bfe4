"""MLE-bench's in-container checker."""

from __future__ import annotations


def send(client, data: bytes, name: str = "file"):  # type: ignore[no-untyped-def]
    return client.post("/validate", files={name: ("submission.csv", data, "text/csv")})


def test_a_good_file_is_valid_and_nothing_is_stored(podium, tiny, good):
    run = podium.run(tiny)

    assert send(run.client, good).json() == {"result": "Submission is valid."}
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
    totals = run.client.get(f"/v1/runs/{run.id}/exposure").json()["totals"]
    assert totals["validations"] == 1


def test_a_bad_file_is_told_all_its_faults(podium, tiny):
    result = send(podium.run(tiny).client, b"id,target\nr1,x\n").json()["result"]

    assert result.startswith("Submission invalid! ")
    for fault in ("expected 20 rows", "19 ids are missing", "is not a number"):
        assert fault in result


def test_it_needs_an_open_runs_key(podium, tiny, good):
    run = podium.run(tiny)
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})

    assert send(podium.client(), good).status_code == 401
    assert send(podium.admin, good).status_code == 403
    assert send(run.client, good).status_code == 409
    assert send(podium.run(tiny).client, good, "other").status_code == 422


def test_health_needs_no_key(podium):
    assert podium.client().get("/health").json() == {"status": "running"}
