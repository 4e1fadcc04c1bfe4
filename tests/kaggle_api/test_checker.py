"""MLE-bench's in-container checker."""

from __future__ import annotations


def send(client, data: bytes, name: str = "file"):  # type: ignore[no-untyped-def]
    return client.post("/validate", files={name: ("submission.csv", data, "text/csv")})


def test_a_good_file_is_valid_and_nothing_is_stored(podium, tiny, good):
    run = podium.run(tiny)

    assert send(run.client, good).json() == {"result": "Submission is valid.", "is_valid": True}
    assert run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"] == []
    totals = run.client.get(f"/v1/runs/{run.id}/exposure").json()["totals"]
    assert totals["validations"] == 1


def test_a_bad_file_is_told_all_its_faults(podium, tiny):
    answer = send(podium.run(tiny).client, b"id,target\nr1,x\n").json()
    result = answer["result"]

    assert answer["is_valid"] is False
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


def test_answers_end_their_line(podium, tiny, good):
    checked = send(podium.run(tiny).client, good)

    for answer in (checked, podium.client().get("/health")):
        assert answer.text.splitlines(keepends=True)[0].endswith("}\n")
        assert int(answer.headers["Content-Length"]) == len(answer.content)


def call_validate(client, competition: str, data: bytes):  # type: ignore[no-untyped-def]
    """An answer as MLEvolve's client reads it: (passed, text)."""
    answer = client.post(
        "/validate", files={"file": ("s.csv", data, "text/csv")}, headers={"exp-id": competition}
    ).json()
    if "error" in answer:
        return False, answer["details"]
    return answer["is_valid"], answer["result"]


def test_mlevolve_reads_verdicts_and_errors(podium, tiny, good):
    run = podium.run(tiny)

    assert call_validate(run.client, tiny.name, good) == (True, "Submission is valid.")
    passed, text = call_validate(run.client, tiny.name, b"id,target\nr1,x\n")
    assert not passed
    assert "is not a number" in text
    passed, text = call_validate(run.client, "another-competition", good)
    assert not passed
    assert tiny.name in text
    assert "another-competition" in text
    passed, text = call_validate(podium.client("pod_run_wrong"), tiny.name, good)
    assert not passed
    assert "key" in text
    other = send(run.client, good, "other").json()
    assert other["details"] == other["detail"]
    assert (other["status"], bool(other["error"])) == (422, True)


def test_another_competition_in_exp_id_is_400_and_no_validation(podium, tiny, good):
    run = podium.run(tiny)

    answer = run.client.post(
        "/validate", files={"file": ("s.csv", good, "text/csv")}, headers={"exp-id": "other"}
    )

    assert answer.status_code == 400
    totals = run.client.get(f"/v1/runs/{run.id}/exposure").json()["totals"]
    assert totals["validations"] == 0


def test_a_name_in_exp_id_that_is_too_long_is_told(podium, tiny, good):
    answer = podium.run(tiny).client.post(
        "/validate", files={"file": ("s.csv", good, "text/csv")}, headers={"exp-id": "x" * 101}
    )

    assert answer.status_code == 422
    assert "exp-id" in answer.json()["detail"]
