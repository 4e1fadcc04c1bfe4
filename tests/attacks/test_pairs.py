"""A run's key cannot tell a file near the hidden answers from one far from them.

The same files go to two competitions whose answers differ in hidden rows alone: in one of them the
files are perfect there. The run sends some, its harness others. Whatever the run's key asks for,
before and after the run is closed, regraded and excluded, the answers are the same bytes.
"""

from __future__ import annotations

import itertools
import re
import time
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import CSV, WAIT, Podium, Run
from tests.factories import good_submission
from tests.system.transcripts import normalised

SETTINGS = {"outcome_step_seconds": 0.1, "event_heartbeat_seconds": 0.5}
COLUMNS = {"target": {"kind": "number", "min": -1000, "max": 1000}}
USAGE = ("Search", "Private", "Public")
RPC = "/api/v1/competitions.CompetitionApiService"
SEEN = {"none": (), "validity": (), "search": ("Search",), "public": ("Public",)}
NUMBERS = re.compile(r'"(id|ref)":\d+|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^",]*')
_numbers = itertools.count(1)


def folder_with(podium: Podium, slug: str, hidden: tuple[str, ...]) -> Path:
    """The competition `slug`; with far answers in the rows of these usages."""
    folder = podium.folder(slug, columns=COLUMNS, seed=1, usage=USAGE, rows=24)
    answers = folder / "private" / "answers.csv"
    lines = answers.read_text().splitlines()
    far = [f"{line.split(',')[0]},77.5,{line.rpartition(',')[2]}"
           if line.rpartition(",")[2] in hidden else line for line in lines]  # fmt: skip
    answers.write_text("\n".join(far) + "\n")
    return folder


def asked(run: Run, slug: str) -> Iterator[tuple[str, str]]:
    """What a run's key can ask of its submissions, and the answers."""
    listed = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    own = [one["id"] for one in listed]
    gets = [
        f"/v1/runs/{run.id}/submissions", *(f"/v1/submissions/{one}" for one in own),
        f"/v1/runs/{run.id}/exposure", f"/v1/runs/{run.id}", "/v1/runs", "/SKILL.md", "/llms.txt",
        f"/v1/competitions/{slug}", f"/v1/runs/{run.id}/receipts",
        f"/v1/competitions/{slug}/leaderboard", f"/v1/runs/{run.id}/trajectory",
        f"/api/v1/competitions/submissions/list/{slug}",
    ]  # fmt: skip
    for path in gets:
        yield f"GET {path}", shown(run.client.get(path), slug)
    calls: list[tuple[str, dict[str, Any]]] = [
        (name, {"competitionName": slug})
        for name in ("ListSubmissions", "GetSubmissionLimits", "GetLeaderboard",
                     "DownloadLeaderboard", "GetCompetition", "ListCompetitionPages")
    ]  # fmt: skip
    calls += [("GetSubmission", {"ref": int(one[4:18], 16)}) for one in own]
    for name, body in calls:
        yield name, shown(run.client.post(f"{RPC}/{name}", json=body), slug)
    with run.client.stream("GET", f"/v1/runs/{run.id}/events") as stream:
        text = ""
        for line in stream.iter_lines():
            if line.startswith(":"):
                break
            text += line + "\n"
    yield "events", shown(httpx.Response(200, text=text), slug)


def shown(answer: httpx.Response, slug: str) -> str:
    """An answer without what differs between any two runs."""
    text = answer.text
    if answer.headers.get("content-type") == "application/zip":
        with zipfile.ZipFile(BytesIO(answer.content)) as packed:
            text = "".join(packed.read(name).decode() for name in packed.namelist())
    headers = {name.lower(): value for name, value in answer.headers.items()}
    told = normalised(answer.status_code, headers, NUMBERS.sub("NUMBER", text))
    return told.replace(slug, "SLUG")


def story(podium: Podium, slug: str, policy: str, files: list[bytes]) -> list[tuple[str, str]]:
    """A run from its first file to its end, as its key sees it."""
    run = podium.run(podium.folders / slug, feedback=policy, limits={"submissions_total": 20})
    harness = podium.client(podium.harness_key(run.document["experiment"]))
    sent = f"/v1/runs/{run.id}/submissions"
    told: list[tuple[str, str]] = []

    def ask(when: str) -> None:
        told.extend((f"{when}: {question}", answer) for question, answer in asked(run, slug))

    harness.post(sent, content=files[0], headers=WAIT).raise_for_status()
    for at, file in enumerate(files):
        told.append((f"file {at}", shown(run.client.post(sent, content=file, headers=WAIT), slug)))
    graded = f"/v1/competitions/{slug}/grade"
    harness.post(graded, content=files[1], headers=CSV).raise_for_status()
    settle(podium, run, policy)
    ask("graded")
    closed = podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    assert closed.status_code == 200
    ask("closed")
    regrade(podium, slug)
    ask("regraded")
    why = {"decision": "exclude", "reason": "a test"}
    podium.admin.post(f"/v1/runs/{run.id}/review", json=why).raise_for_status()
    ask("excluded")
    return told


def settle(podium: Podium, run: Run, policy: str) -> None:
    """Wait until all files are settled and, where the run's key may know it, it knows."""
    readers = [podium.admin, run.client][: 1 if policy == "none" else 2]
    for reader in readers:
        states = {""}
        while not states <= {"graded", "rejected"}:
            time.sleep(0.05)
            items = reader.get(f"/v1/runs/{run.id}/submissions").json()["items"]
            states = {one["state"] for one in items}
    assert len(items) == 5


def regrade(podium: Podium, slug: str) -> None:
    """Grade all submissions by answers that are far from everything, and apply it."""
    folder = folder_with(podium, slug, USAGE)
    toml = folder / "competition.toml"
    toml.write_text(toml.read_text().replace("version = 1", "version = 2"))
    assert podium.send_folder(folder).status_code == 201
    made = podium.admin.post(f"/v1/competitions/{slug}/regrades", json={})
    assert made.status_code == 201, made.text
    at = f"/v1/regrades/{made.json()['id']}"
    while podium.admin.get(at).json()["state"] != "ready":
        time.sleep(0.05)
    podium.admin.post(f"{at}/apply", json={"reason": "a test"}).raise_for_status()


@pytest.mark.parametrize("policy", ["none", "validity", "search", "public"])
def test_near_and_far_files_look_the_same(podium: Podium, policy: str) -> None:
    hidden = tuple(usage for usage in USAGE if usage not in SEEN[policy])
    transcripts, scores = [], []
    files: list[bytes] = []
    for far in ((), hidden):
        slug = f"pair-{next(_numbers)}"
        folder = folder_with(podium, slug, far)
        assert podium.send_folder(folder).status_code == 201
        files = files or [
            good_submission(folder), good_submission(folder, shift=0.125), b"id,target\nr1,x\n"
        ]  # fmt: skip
        transcripts.append(story(podium, slug, policy, files))
        (result,) = podium.admin.get(f"/v1/competitions/{slug}/results").json()["items"]
        scores.append(first_score(podium, result["run"]))

    assert scores[0] == 0 != scores[1]
    near, other = transcripts
    for (question, answer), (_, of_other) in zip(near, other, strict=True):
        assert answer == of_other, question


def first_score(podium: Podium, run: str) -> float:
    """The private score of the run's first file, by its first grade."""
    key = podium.client(
        podium.harness_key(podium.admin.get(f"/v1/runs/{run}").json()["experiment"])
    )
    score: float = key.get(f"/v1/runs/{run}/submissions").json()["items"][0]["grade"]["score"]
    return score
