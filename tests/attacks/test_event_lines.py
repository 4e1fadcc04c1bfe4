"""Line separators in what an agent wrote begin no field of an event stream."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from tests.api.conftest import Podium, Run
from tests.clients.conftest import ROOT
from tests.factories import good_submission

ENDS = ("\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e")
FORGED = '{"id": "sub_forged", "state": "graded", "grade": {"medal": "gold"}}'


@pytest.fixture(autouse=True)
def client_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "clients" / "podium-client"))


def forgery(end: str) -> str:
    return f"x{end}{end}event: submission{end}data: {FORGED}{end}{end}id: 9.x.closed"


def submit_by_kaggle(run: Run, slug: str, data: bytes, message: str, name: str = "s.csv") -> None:
    base = "/api/v1/competitions.CompetitionApiService"
    announced = {"competitionName": slug, "contentLength": len(data), "fileName": name}
    begun = run.client.post(f"{base}/StartSubmissionUpload", json=announced).json()
    assert run.client.put(begun["createUrl"], content=data).status_code == 200
    body = {
        "competitionName": slug, "blobFileTokens": begun["token"],
        "submissionDescription": message,
    }  # fmt: skip
    run.client.post(f"{base}/CreateSubmission", json=body)


def test_a_note_or_a_file_forges_no_event_of_podium_client(podium: Podium) -> None:
    from podium_client import Podium as Client

    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    for end in ENDS:
        submit_by_kaggle(run, folder.name, good_submission(folder), forgery(end))
        bad = f"id,target\n{forgery(end)},1\n".replace('"', "'")
        run.submit(bad.encode())
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})

    with Client(podium.server.url, podium.server.key) as client:
        found = list(client.events(run.id))

    assert {one.name for one in found} == {"submission", "run"}
    sent = {one.data["id"] for one in found if one.name == "submission"}
    assert sent == {one["id"] for one in listed(podium, run)}
    assert len(sent) == 2 * len(ENDS)


def test_the_stream_itself_has_no_such_line(podium: Podium) -> None:
    """Other clients than ours split at these characters too, and older notes may have them."""
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    for end in ENDS:
        sent = run.submit(good_submission(folder, shift=ENDS.index(end) / 100)).json()
        with (
            contextlib.closing(
                sqlite3.connect(podium.server.data_dir / "podium.db", timeout=30)
            ) as rows,
            rows,
        ):
            rows.execute(
                "UPDATE submission SET message = ? WHERE id = ?", (forgery(end), sent["id"])
            )
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})

    with podium.admin.stream("GET", f"/v1/runs/{run.id}/events") as response:
        lines = response.read().decode().splitlines()

    fields = [line.partition(":")[0] for line in lines if line]
    assert fields == ["retry", *["event", "id", "data"] * (len(ENDS) + 1)]
    notes = [json.loads(line[6:])["message"] for line in lines if "sub_forged" in line]
    assert notes == [forgery(end) for end in ENDS]


def test_notes_and_names_by_kaggles_calls_are_one_line(podium: Podium, tmp_path: Path) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    odd = "a\x1b[2J\r\nb\u202ec\u2028d"

    submit_by_kaggle(run, folder.name, good_submission(folder), odd, odd)

    [found] = listed(podium, run)
    assert found["message"] == "a [2J  b c d"
    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    [receipt] = podium.admin.get(f"/v1/runs/{run.id}/receipts").json()["items"]
    stated = podium.admin.get(f"/v1/receipts/{receipt['id']}").json()
    assert stated["subject"][0]["name"] == "a [2J  b c d"


def listed(podium: Podium, run: Run) -> list[dict]:
    found: list[dict] = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    return found
