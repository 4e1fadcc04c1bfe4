"""An agent that learns of failures by numbers that count them, and never asks for a submission."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import CSV, Podium, Run
from tests.attacks.test_agent import limits, send, settle
from tests.attacks.test_failures import asking, ledger, oracle, positive
from tests.server import PodiumServer

BOUND = 2
SETTINGS = {"run_failures": BOUND, "grading_attempts": 1, "outcome_step_seconds": 0.5}
RPC = "/api/v1/competitions.CompetitionApiService"


@pytest.fixture(scope="module")
def folder(server: PodiumServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition whose metric fails at some files. Each test has runs of its own at it."""
    with contextlib.ExitStack() as clients:
        return oracle(Podium(server, tmp_path_factory.mktemp("folders"), clients))


def start_upload(run: Run) -> httpx.Response:
    """Ask for an address, as Kaggle's client does before it sends a file."""
    slug = run.document["competition"]
    body = {"competitionName": slug, "contentLength": 9, "fileName": "s.csv"}
    return run.client.post(f"{RPC}/StartSubmissionUpload", json=body)


def create_submission(run: Run) -> httpx.Response:
    """Submit by an address that Kaggle's client got before the files failed."""
    slug, token = run.document["competition"], run.document["token"]
    body = {"competitionName": slug, "blobFileTokens": token}
    return run.client.post(f"{RPC}/CreateSubmission", json=body)


def asked(
    podium: Podium,
    folder: Path,
    feedback: str = "validity",
    *,
    most: int | None = 9,
    files: int = BOUND,
) -> Run:
    """A run whose files have failed, none of which its agent has looked at."""
    run = podium.run(folder, feedback, limits={"submissions_total": most})
    run.document["token"] = start_upload(run).json()["token"]
    for number in range(files):
        assert send(run, asking(*positive(folder), note=number)).status_code == 202
    settle(podium, run)
    assert ledger(run)["disclosed"] == []
    time.sleep(1.1)  # then the outcomes may be shown
    return run


def failures_learned(answer: httpx.Response) -> int:
    """How many failures a refusal names."""
    assert answer.status_code == 429
    return int("Grading failed for 2 files" in answer.text) * 2


WAYS: dict[str, Callable[[Run], int]] = {
    "how many submissions are left": lambda run: BOUND - int(limits(run)["numTotal"]),
    "the guide": lambda run: run.client.get("/SKILL.md").is_success * BOUND,
    "a refusal": lambda run: failures_learned(send(run, asking(note=7))),
    "the refusal of a large file": lambda run: failures_learned(
        send(run, asking(note=7) + b"," * 300_000)
    ),
    "a refusal to Kaggle's client": lambda run: failures_learned(start_upload(run)),
    "the refusal of a file of Kaggle's client": lambda run: failures_learned(
        create_submission(run)
    ),
}


@pytest.mark.parametrize("way", list(WAYS))
def test_failures_that_a_number_tells_are_in_the_ledger(
    podium: Podium, folder: Path, way: str
) -> None:
    run = asked(podium, folder)

    assert WAYS[way](run) == BOUND

    assert ledger(run)["totals"]["failures"] == BOUND
    WAYS[way](run)
    run.client.get(f"/v1/runs/{run.id}/submissions")
    assert ledger(run)["totals"]["failures"] == BOUND


def stored_beyond_the_limit(run: Run) -> None:
    """With a limit of one, a second file is stored only because the first one failed."""
    assert send(run, asking(note=7)).status_code == 202


def refused_in_time(run: Run) -> None:
    """With a limit of one, a third file is refused: the second one did not fail, the first did."""
    admin_sends = run.document["admin"].post(
        f"/v1/runs/{run.id}/submissions", content=asking(note=7), headers=CSV
    )
    assert admin_sends.status_code == 202
    assert "has used all of its 1 submission" in send(run, asking(note=8)).text


def address_given(run: Run) -> None:
    assert start_upload(run).status_code == 200


def sent_by_kaggle(run: Run) -> None:
    url = run.client.post(
        f"{RPC}/StartSubmissionUpload",
        json={
            "competitionName": run.document["competition"],
            "contentLength": len(asking(note=7)),
            "fileName": "s.csv",
        },
    ).json()
    assert run.client.put(url["createUrl"], content=asking(note=7)).status_code == 200
    run.document["token"] = url["token"]
    assert create_submission(run).status_code == 200


ANSWERS = [stored_beyond_the_limit, refused_in_time, address_given, sent_by_kaggle]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda each: each.__name__)
def test_a_failure_that_a_limit_reveals_is_in_the_ledger(
    podium: Podium, folder: Path, answer: Callable[[Run], None]
) -> None:
    run = asked(podium, folder, most=1, files=1)
    run.document["admin"] = podium.admin

    answer(run)

    assert ledger(run)["totals"]["failures"] == 1


def test_without_a_limit_a_stored_file_reveals_no_failure(podium: Podium, folder: Path) -> None:
    run = asked(podium, folder, most=None, files=1)

    stored_beyond_the_limit(run)

    assert ledger(run)["disclosed"] == []


def test_failures_that_a_refusal_tells_a_harness_are_in_its_part_of_the_ledger(
    podium: Podium, folder: Path
) -> None:
    run = asked(podium, folder)
    harness = podium.client(podium.harness_key(run.document["experiment"]))

    refused = harness.post(f"/v1/runs/{run.id}/submissions", content=asking(), headers=CSV)

    assert failures_learned(refused) == BOUND
    exposure = podium.admin.get(f"/v1/runs/{run.id}/exposure").json()
    assert exposure["harness_totals"]["failures"] == BOUND
    assert exposure["totals"]["failures"] == 0


def test_numbers_told_to_others_or_under_none_enter_nothing(podium: Podium, folder: Path) -> None:
    run = asked(podium, folder)
    told = podium.admin.post(f"/v1/runs/{run.id}/submissions", content=asking(), headers=CSV)
    assert told.status_code == 429
    silent = asked(podium, folder, "none")
    limits(silent)

    assert ledger(run)["disclosed"] == []
    assert ledger(silent)["disclosed"] == []
