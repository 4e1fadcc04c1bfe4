"""An agent with a clock: what it may not see yet is not read from the database for it either.

Here what was found is no JSON any more: whoever reads it gets a 500.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time

import pytest

from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission

SETTINGS = {"outcome_step_seconds": 60}
CALLS = "/api/v1/competitions.CompetitionApiService"


def send(run: Run, body: bytes, key: str) -> dict[str, str]:
    headers = {**CSV, "Idempotency-Key": key}
    answer = run.client.post(f"/v1/runs/{run.id}/submissions", content=body, headers=headers)
    answer.raise_for_status()
    return answer.json()


@pytest.mark.parametrize("policy", ["validity", "search", "public"])
def test_a_hidden_outcome_is_not_read_for_the_runs_key(podium: Podium, policy: str) -> None:
    """A list of 25 refused files took a millisecond longer than one of files that still wait."""
    folder = podium.competition()
    run = podium.run(folder, policy)
    files = [good_submission(folder), b"id,target\n" + b"r1,1\n" * 9]
    sent = [send(run, file, f"{policy} {number}")["id"] for number, file in enumerate(files)]
    for one in sent:
        while podium.admin.get(f"/v1/submissions/{one}").json()["settled_at"] is None:
            time.sleep(0.05)
    with contextlib.closing(sqlite3.connect(podium.server.data_dir / "podium.db")) as db, db:
        of = f"WHERE run_id = '{run.id}'"
        db.execute(f"UPDATE submission SET problem = 'x', warnings = 'x' {of}")
        db.execute(
            f"UPDATE grade SET grader = 'x' WHERE submission_id IN (SELECT id FROM submission {of})"
        )
    named = {"competitionName": folder.name}

    shown = [run.client.get(f"/v1/submissions/{one}") for one in sent]
    again = [send(run, file, f"{policy} {number}") for number, file in enumerate(files)]
    listed = run.client.get(f"/v1/runs/{run.id}/submissions")
    kaggle = [
        run.client.post(f"{CALLS}/{name}", json=named)
        for name in ("ListSubmissions", "GetLeaderboard")
    ]
    kaggle += [
        run.client.post(f"{CALLS}/GetSubmission", json={"ref": int(one[4:18], 16)}) for one in sent
    ]
    with run.client.stream("GET", f"/v1/runs/{run.id}/events") as stream:
        events = next(text for text in stream.iter_text() if "queued" in text)

    assert [answer.status_code for answer in (*shown, listed, *kaggle)] == [200] * 7
    assert {answer.json()["state"] for answer in shown} == {"queued"}
    assert {answer["state"] for answer in again} == {"queued"}
    assert listed.text.count('"state":"queued"') == 2
    assert events.count("event: submission") == 2
