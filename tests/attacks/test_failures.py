"""An agent that asks a metric.py about the answers by files with which it fails."""

from __future__ import annotations

import concurrent.futures
import contextlib
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import CSV, Podium, Run
from tests.attacks.test_agent import limits, send, settle
from tests.kaggle_api.agent import Agent, basic, told
from tests.kaggle_api.conftest import NEW
from tests.web.conftest import visitor

BOUND = 3
FAILED_FILES = re.compile(r"Grading failed for (\d+) files? of")
SETTINGS = {"run_failures": BOUND, "grading_attempts": 1, "grading_seconds": 3}
ROWS = 20
YES = 1000.0  # predicted for the rows that a file asks about
SLOW = 5000.0
# A metric with a mistake: it fails for a row of which the answer is positive and the prediction so
# large, in the way that `HOW` names. So `failed` means "positive".
METRIC = """
import os, time

def score(answers, submission):
    asked = submission["target"] >= 1000.0
    if (submission["target"] >= 5000.0).any():
        time.sleep(1.5)
        return 0.0
    if (answers.loc[asked, "target"] > 0).any():
        HOW
    return 0.0
"""
HOW = {
    "an exception": 'raise ValueError("too large")',
    "no number": "return float('nan')",
    "an exception that is not an Exception": "raise KeyboardInterrupt",
    "the end of its process": "os._exit(0)",
    "the time limit": "time.sleep(60)",
}


def oracle(podium: Podium, how: str = "an exception") -> Path:
    """A competition with such a metric."""
    return podium.competition(metric_py=METRIC.replace("HOW", HOW[how]), leaderboard=None)


def asking(*rows: int, value: float = YES, note: int = 0) -> bytes:
    """A valid file that asks about these rows."""
    lines = [f"r{row},{value if row in rows else -1.0 - note}" for row in range(1, ROWS + 1)]
    return ("id,target\n" + "\n".join(lines) + "\n").encode()


def positive(folder: Path) -> list[int]:
    """The rows whose answer is positive: what the agent wants to know."""
    lines = (folder / "private" / "answers.csv").read_text().splitlines()[1:]
    return [row for row, line in enumerate(lines, 1) if float(line.split(",")[1]) > 0]


def ledger(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.client.get(f"/v1/runs/{run.id}/exposure").json()
    return found


def states(podium: Podium, run: Run) -> list[str]:
    """As an admin sees them, once all are settled."""
    settle(podium, run)
    items = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    return [one["state"] for one in items]


def shown_states(run: Run, count: int) -> set[str]:
    """As the agent sees them, once it sees the outcomes of so many."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        items = run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        if len(items) == count and all(one["settled_at"] for one in items):
            return {one["state"] for one in items}
        time.sleep(0.05)
    raise AssertionError("the outcomes are not shown")


def assert_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 429, answer.text
    problem = answer.json()
    assert problem["type"] == "/problems/too-many-failures"
    for words in ("Grading failed for 3 files", "PODIUM_RUN_FAILURES", "podium faults"):
        assert words in problem["detail"]
    assert int(answer.headers["Retry-After"]) == 24 * 3600


def test_answers_by_failures_are_in_the_ledger_and_end(podium: Podium) -> None:
    folder = oracle(podium)
    run = podium.run(folder, "validity", limits={"submissions_total": 100})

    learned, answer = {}, None
    for row in range(1, ROWS + 1):
        answer = run.submit(asking(row))
        if answer.status_code != 201:
            break
        learned[row] = answer.json()["state"] == "failed"

    assert [row for row in learned if learned[row]] == positive(folder)[:BOUND]
    assert answer is not None
    assert_refused(answer)
    before = sorted(podium.server.data_dir.glob("blobs/??/*"))
    assert_refused(run.submit(asking(1, note=1)))  # a small one and a large one
    assert_refused(run.submit(asking(1, note=2) + b"," * 300_000))
    assert sorted(podium.server.data_dir.glob("blobs/??/*")) == before
    for_researchers = podium.admin.post(
        f"/v1/runs/{run.id}/submissions", content=asking(1), headers=CSV
    )
    assert_refused(for_researchers)
    found = ledger(run)
    assert found["totals"]["failures"] == BOUND
    assert [one["kind"] for one in found["disclosed"]] == ["failure"] * BOUND
    # They are apart from the quota of submissions, and what else the run may do goes on.
    assert limits(run)["numTotal"] == len(learned) - BOUND
    assert limits(run)["numAllowedNow"] == 0
    assert run.validate(asking(1)).json()["valid"] is True
    assert podium.run(folder).submit(asking()).json()["state"] == "graded"

    podium.admin.patch(f"/v1/runs/{run.id}", json={"state": "closed"})
    page = visitor(podium.server, podium.researcher_key()).get(f"/runs/{run.id}").text
    assert f"{BOUND} failures of grading" in page
    assert page.count("<td>failure</td>") == BOUND
    (receipt,) = podium.admin.get(f"/v1/runs/{run.id}/receipts").json()["items"]
    stated = podium.admin.get(f"/v1/receipts/{receipt['id']}").json()
    assert stated["predicate"]["exposure"]["failures"] == BOUND


@pytest.mark.parametrize("how", list(HOW)[1:])
def test_every_way_in_which_a_file_makes_its_grading_fail_counts(podium: Podium, how: str) -> None:
    folder = oracle(podium, how)
    run = podium.run(folder, "full")

    answer = run.submit(asking(*positive(folder)))

    assert answer.json()["state"] == "failed"
    assert ledger(run)["totals"] == {
        "validations": 0, "search_scores": 0, "public_scores": 0, "private_scores": 0,
        "failures": 1,
    }  # fmt: skip


def test_files_that_are_sent_at_once_learn_no_more(podium: Podium) -> None:
    folder = oracle(podium)
    run = podium.run(folder, "validity")
    asked = positive(folder)

    with concurrent.futures.ThreadPoolExecutor(12) as together:
        bodies = [asking(asked[0], note=number) for number in range(1, 31)]
        answers = list(together.map(lambda body: send(run, body), bodies))

    accepted = [answer for answer in answers if answer.status_code == 202]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(accepted) + len(refused) == len(answers)
    assert 1 <= len(accepted) <= BOUND
    waiting = [one for one in refused if int(one.headers["Retry-After"]) == 1]
    assert all("Wait for outcomes" in one.json()["detail"] for one in waiting)
    assert states(podium, run) == ["failed"] * len(accepted)
    # The ledger has those that a refusal told of, and those whose outcome was shown by then.
    details = [one.json()["detail"] for one in refused]
    told_of = [int(number) for one in details for number in FAILED_FILES.findall(one)]
    assert len(told_of) == len(refused)
    assert max(told_of) <= ledger(run)["totals"]["failures"] <= len(accepted)
    assert shown_states(run, len(accepted)) == {"failed"}
    assert ledger(run)["totals"]["failures"] == len(accepted)


def test_a_run_that_waits_for_outcomes_sends_as_much_as_it_likes(podium: Podium) -> None:
    run = podium.run(oracle(podium), "validity")

    answers = [run.submit(asking(note=number)) for number in range(3 * BOUND)]

    assert [answer.json()["state"] for answer in answers] == ["graded"] * 3 * BOUND


def test_under_none_nothing_is_told_and_nothing_refused(podium: Podium) -> None:
    folder = oracle(podium)
    run = podium.run(folder, "none")
    rows = positive(folder)

    answers = [send(run, asking(*rows, note=number)) for number in range(2 * BOUND)]

    assert {answer.status_code for answer in answers} == {202}
    assert states(podium, run) == ["failed"] * 2 * BOUND
    run.client.get(f"/v1/runs/{run.id}/submissions")
    assert send(run, asking(1)).status_code == 202
    assert limits(run)["numAllowedNow"] == 1_000_000
    assert ledger(run)["disclosed"] == []


def test_faults_of_the_store_are_nobodys_failure(podium: Podium) -> None:
    run = podium.run(oracle(podium), "validity")
    for number in range(BOUND):
        assert send(run, asking(1, value=SLOW, note=number)).status_code == 202
        lost = send(run, asking(note=100 + number)).json()["id"]
        digest = podium.admin.get(f"/v1/submissions/{lost}").json()["sha256"]
        (podium.server.data_dir / "blobs" / digest[:2] / digest[2:]).unlink()
        assert states(podium, run)[-2:] == ["graded", "failed"]
        assert shown_states(run, 2 * (number + 1)) == {"graded", "failed"}

    with contextlib.closing(sqlite3.connect(podium.server.data_dir / "podium.db")) as database:
        query = "SELECT fault.kind FROM fault JOIN submission ON submission.id = submission_id"
        kinds = database.execute(f"{query} WHERE run_id = ?", (run.id,)).fetchall()
    assert kinds == [("storage",)] * BOUND
    assert ledger(run)["totals"]["failures"] == 0
    assert run.submit(asking()).json()["state"] == "graded"


def test_a_harness_that_is_shown_a_failure_is_in_the_ledger_apart(podium: Podium) -> None:
    folder = oracle(podium)
    run = podium.run(folder, "none")
    harness = podium.client(podium.harness_key(run.document["experiment"]))
    sent = send(run, asking(*positive(folder))).json()["id"]
    settle(podium, run)

    assert [harness.get(f"/v1/submissions/{sent}").json()["state"] for _ in range(2)] == [
        "failed", "failed",
    ]  # fmt: skip

    found = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()
    assert (found["totals"]["failures"], found["harness_totals"]["failures"]) == (0, 1)
    assert ledger(run)["harness_totals"] is None


def test_kaggles_client_is_told_why_it_is_refused(podium: Podium, tmp_path: Path) -> None:
    folder = oracle(podium)
    run = podium.run(folder, "validity")
    for number in range(BOUND):
        assert run.submit(asking(*positive(folder), note=number)).json()["state"] == "failed"
    agent = Agent(NEW, tmp_path, podium.server.url, basic(run.document["key"]))
    agent.write("s.csv", asking())

    sent = agent.kaggle("submit", folder.name, "-f", "s.csv", "-m", "one more")

    assert sent.returncode == 1
    assert "Grading failed for 3 files" in told(sent)
    assert "Traceback" not in told(sent)
    assert len(states(podium, run)) == BOUND
