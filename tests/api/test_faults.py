"""Admins can see why Podium could not grade a submission; nobody else can."""

from __future__ import annotations

import json
from pathlib import Path

from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.forkserver import run_podium

KILLED_AT_4321 = """
import os

def score(answers, submission):
    if (submission["target"] == 4321.0).any():
        os.kill(os.getpid(), 9)
    return 0.0
"""
FAILS_AT_4321 = """
def score(answers, submission):
    if (submission["target"] == 4321.0).any():
        raise LookupError("words of the metric")
    return float(abs(answers["target"] - submission["target"]).max())
"""


def failing_file(folder: Path) -> bytes:
    """A valid file at which the competition's metric.py raises."""
    lines = good_submission(folder).decode().splitlines()
    lines[1] = f"{lines[1].split(',')[0]},4321"
    return "\n".join(lines).encode()


def test_a_failed_grading_is_listed_with_every_attempt(podium: Podium) -> None:
    folder = podium.competition(metric_py=FAILS_AT_4321)
    run = podium.run(folder, feedback="full")
    failed = run.submit(failing_file(folder)).json()

    found = podium.admin.get("/v1/faults", params={"submission": failed["id"]}).json()

    assert failed["state"] == "failed"
    assert [one["attempt"] for one in found["items"]] == sorted(
        (one["attempt"] for one in found["items"]), reverse=True
    )
    first = found["items"][0]
    assert first["submission"] == failed["id"]
    assert first["run"] == run.id
    assert first["competition"] == folder.name
    assert first["kind"]
    assert "words of the metric" not in json.dumps(found)


def test_pages_go_back_in_time_and_a_run_sees_none(podium: Podium) -> None:
    folder = podium.competition(metric_py=FAILS_AT_4321)
    run = podium.run(folder)
    sent = [run.submit(failing_file(folder)).json()["id"] for _ in range(2)]

    first = podium.admin.get("/v1/faults", params={"limit": 1}).json()
    second = podium.admin.get(
        "/v1/faults", params={"limit": 1, "cursor": first["next_cursor"]}
    ).json()

    assert first["items"][0]["id"] > second["items"][0]["id"]
    assert first["items"][0]["submission"] in sent
    assert run.client.get("/v1/faults").status_code == 403
    assert podium.client(podium.researcher_key()).get("/v1/faults").status_code == 403


def test_the_command_lists_them_too(podium: Podium) -> None:
    folder = podium.competition(metric_py=FAILS_AT_4321)
    failed = podium.run(folder).submit(failing_file(folder)).json()["id"]

    listed = run_podium(
        ["faults", "--submission", failed, "--json"],
        env=podium.server.environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert {one["submission"] for one in json.loads(listed.stdout)} == {failed}


def test_admins_read_what_a_kill_means_and_nobody_else_does(podium: Podium) -> None:
    folder = podium.competition(metric_py=KILLED_AT_4321)
    run = podium.run(folder, feedback="full")
    killed = run.submit(failing_file(folder))
    submission, meaning = killed.json()["id"], "had no memory left"

    listed = run_podium(
        ["faults", "--submission", submission],
        env=podium.server.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    html = {"Accept": "text/html"}
    for path in ("/operations", f"/submissions/{submission}"):
        assert meaning in podium.admin.get(path, headers=html).text
    of_researcher = podium.client(podium.researcher_key())

    assert killed.json()["state"] == "failed"
    assert meaning in " ".join(listed.stderr.split())
    assert "PODIUM_GRADER_MEMORY_MB" in listed.stderr
    assert meaning not in of_researcher.get(f"/submissions/{submission}", headers=html).text
    assert meaning not in killed.text
