"""An agent with a run's key: what it sends leaves nothing that was refused, and tells nothing."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gzip
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission

LARGE = 300 * 1024  # more than what waits in memory: written to the disk as it arrives
WAIT = {**CSV, "Prefer": "wait=30"}


def stored(podium: Podium) -> set[str]:
    """The files of the store, without those that are being written."""
    root = podium.server.data_dir / "blobs"
    return {f"{path.parent.name}/{path.name}" for path in root.glob("??/*")}


def file_of(number: int, size: int = LARGE) -> bytes:
    """A file that no other test sends; not valid, so that grading it is short."""
    return b"id,target\n" + f"r1,{number}\n".encode() * (size // 8)


def send(run: Run, body: bytes, **headers: str) -> httpx.Response:
    return run.client.post(
        f"/v1/runs/{run.id}/submissions", content=body, headers={**CSV, **headers}
    )


@pytest.mark.parametrize("size", [100, LARGE])
def test_files_beyond_the_quota_leave_nothing(podium: Podium, size: int) -> None:
    folder = podium.competition()
    run = podium.run(folder, limits={"submissions_total": 1})
    assert send(run, good_submission(folder)).status_code == 202
    before = stored(podium)

    answers = [send(run, file_of(number, size)) for number in range(10)]
    packed = gzip.compress(file_of(99, size))
    answers.append(send(run, packed, **{"Content-Encoding": "gzip"}))

    assert {answer.status_code for answer in answers} == {429}
    assert stored(podium) == before


@pytest.mark.parametrize("size", [100, LARGE])
def test_another_file_with_a_known_key_leaves_nothing(podium: Podium, size: int) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    key = {"Idempotency-Key": f"once-{size}"}
    first = send(run, file_of(100, size), **key)
    assert first.status_code == 202
    before = stored(podium)

    refused = [send(run, file_of(101 + number, size), **key) for number in range(5)]

    assert {answer.status_code for answer in refused} == {409}
    assert stored(podium) == before
    again = send(run, file_of(100, size), **key)
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


@pytest.mark.parametrize("size", [100, LARGE])
def test_files_that_come_together_leave_what_the_quota_allows(podium: Podium, size: int) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="none", limits={"submissions_total": 3})
    before = stored(podium)

    with concurrent.futures.ThreadPoolExecutor(12) as together:
        bodies = [file_of(200 + number, size) for number in range(12)]
        answers = list(together.map(lambda body: send(run, body).status_code, bodies))

    assert sorted(answers) == [202] * 3 + [429] * 9
    assert len(stored(podium) - before) == 3


def test_equal_bytes_of_a_refused_file_stay_for_the_run_that_sent_them(podium: Podium) -> None:
    folder = podium.competition()
    used, other = podium.run(folder, limits={"submissions_total": 1}), podium.run(folder)
    send(used, good_submission(folder))
    body = file_of(300)

    with concurrent.futures.ThreadPoolExecutor(8) as together:
        senders = [other if number == 3 else used for number in range(8)]
        answers = list(together.map(lambda run: send(run, body), senders))

    kept = answers[3].json()["id"]
    assert other.client.get(f"/v1/submissions/{kept}/file").content == body


def limits(run: Run) -> dict[str, Any]:
    return run.client.post(
        "/api/v1/competitions.CompetitionApiService/GetSubmissionLimits",
        json={"competitionName": run.document["competition"]},
    ).json()


def test_under_none_the_quota_tells_nothing(podium: Podium) -> None:
    folder = podium.competition()
    told = []
    for body in (good_submission(folder), b"id,target\nr1,1\n", b"\x00\xff"):
        run = podium.run(folder, feedback="none", limits={"submissions_total": 2})
        answers = [send(run, body)]
        settle(podium, run)
        told.append([limits(run)])
        answers += [send(run, body), send(run, body)]
        told[-1] += [answer.status_code for answer in answers]

    assert told[0][0]["numTotal"] == 1
    assert told[0][1:] == [202, 202, 429]
    assert told[1:] == [told[0]] * 2


def test_under_none_an_answer_comes_at_once(podium: Podium) -> None:
    folder = podium.competition(metric_py=SLOW, leaderboard=None)
    run = podium.run(folder, feedback="none")

    for body in (slow_submission(folder), b"id,target\nr1,1\n"):
        answer = send(run, body, Prefer="wait=30")
        assert answer.status_code == 202
        assert answer.json()["state"] == "received"
        assert "Preference-Applied" not in answer.headers
        assert answer.elapsed.total_seconds() < SLEEP - 1
        settle(podium, run)


SLEEP = 6
# It sleeps at one file only: the import lets it score four tables, which would take 24 seconds.
SLOW = f"""
import time

def score(answers, submission):
    if (submission["target"] == 4321.0).any():
        time.sleep({SLEEP})
    return 0.0
"""


def slow_submission(folder: Path) -> bytes:
    """A valid file at which the metric sleeps."""
    return re.sub(rb"r1,.*", b"r1,4321", good_submission(folder), count=1)


def settle(podium: Podium, run: Run) -> None:
    """Wait until all files of the run are graded, as an admin sees them."""
    for _ in range(300):
        items = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        if all(one["state"] not in ("queued", "grading") for one in items):
            return
        time.sleep(0.1)
    raise AssertionError("the files are not graded")


def test_a_long_ledger_comes_in_pages(podium: Podium) -> None:
    folder = podium.competition()
    run, other = podium.run(folder), podium.run(folder)
    body = good_submission(folder)
    for _ in range(5):
        assert run.validate(body).status_code == 200
        assert other.validate(body).status_code == 200
    address = f"/v1/runs/{run.id}/exposure"

    everything = run.client.get(address).json()
    pages = [run.client.get(address, params={"limit": 2}).json()]
    while cursor := pages[-1]["next_cursor"]:
        pages.append(run.client.get(address, params={"limit": 2, "cursor": cursor}).json())

    assert set(everything) == {"policy", "disclosed", "totals", "harness_totals"}
    assert everything["harness_totals"] is None  # what a harness was shown, its agent is not told
    assert [len(page["disclosed"]) for page in pages] == [2, 2, 1]
    assert [one for page in pages for one in page["disclosed"]] == everything["disclosed"]
    assert all(page["totals"] == everything["totals"] for page in pages)
    assert pages[0]["next_cursor"] == "2"  # tells nothing of the other run's ledger
    assert run.client.get(address, params={"cursor": "x"}).status_code == 400


@pytest.mark.parametrize(("feedback", "spares"), [("none", False), ("validity", True)])
def test_rules_for_kaggles_client_say_which_files_count(
    podium: Podium, feedback: str, spares: bool
) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback=feedback, limits={"submissions_total": 1})
    call = "/api/v1/competitions.CompetitionApiService/ListCompetitionPages"
    pages = run.client.post(call, json={"competitionName": folder.name}).json()["pages"]
    rules = next(page["content"] for page in pages if page["name"] == "rules")
    assert ("Invalid files do not count." in rules, "1 valid submission" in rules) == (
        spares,
        spares,
    )

    codes = [send(run, file_of(200 + number, 100), Prefer="wait=9") for number in range(2)]
    assert (codes[1].status_code == 201) is spares


def test_a_large_file_is_not_read_whole_for_each_byte_of_it(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    size = 8 << 20
    sent = run.submit(file_of(55, size)).json()["id"]
    counters = Path(f"/proc/{podium.server.process.pid}/io")

    def read() -> int:
        return int(counters.read_text().split()[1])

    before = read()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        asked = [
            threads.submit(
                run.client.get, f"/v1/submissions/{sent}/file", headers={"Range": "bytes=0-1"}
            )
            for _ in range(24)
        ]
    assert [one.result().content for one in asked] == [b"id"] * 24
    assert read() - before < 3 * size  # it was 24 times the file


def test_under_none_no_outcome_is_read_for_the_runs_key(podium: Podium) -> None:
    """A list of 25 refused files took a millisecond longer than one of valid files.

    Here what was found is no JSON any more: whoever reads it gets a 500.
    """
    folder = podium.competition()
    run = podium.run(folder, "none")
    files = [good_submission(folder), file_of(700)]
    keys = [{"Idempotency-Key": f"file {number}"} for number in range(2)]
    sent = [send(run, file, **key).json()["id"] for file, key in zip(files, keys, strict=True)]
    for one in sent:
        while podium.admin.get(f"/v1/submissions/{one}").json()["settled_at"] is None:
            time.sleep(0.05)
    database = podium.server.data_dir / "podium.db"
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        of = f"WHERE run_id = '{run.id}'"
        opened.execute(f"UPDATE submission SET problem = 'x', warnings = 'x' {of}")
        opened.execute(
            f"UPDATE grade SET grader = 'x' WHERE submission_id IN (SELECT id FROM submission {of})"
        )
    calls = "/api/v1/competitions.CompetitionApiService"
    named = {"competitionName": folder.name}

    answers = [run.client.get(f"/v1/submissions/{one}") for one in sent]
    answers += [send(run, file, **key) for file, key in zip(files, keys, strict=True)]
    answers.append(run.client.get(f"/v1/runs/{run.id}/submissions"))
    answers += [run.client.post(f"{calls}/{name}", json=named)
                for name in ("ListSubmissions", "GetLeaderboard")]  # fmt: skip
    answers += [run.client.post(f"{calls}/GetSubmission", json={"ref": int(one[4:18], 16)})
                for one in sent]  # fmt: skip
    answers.append(run.client.put(f"/v1/runs/{run.id}/selected", json={"submission": sent[0]}))
    with run.client.stream("GET", f"/v1/runs/{run.id}/events") as stream:
        events = next(text for text in stream.iter_text() if "received" in text)

    assert [answer.status_code for answer in answers] == [200] * len(answers)
    assert answers[4].text.count('"state":"received"') == 2
    assert events.count("event: submission") == 2
