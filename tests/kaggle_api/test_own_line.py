"""A run's own line on the leaderboard has its best score, and the ledger this number alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.api.conftest import Podium, Run
from tests.factories import good_submission

SERVICE = "/api/v1/competitions.CompetitionApiService"
SHIFTS = (0.5, 0.125, 0.25)  # the best is neither the first nor the newest


def submission(folder: Path, shift: float) -> bytes:
    """A file whose public rows, every second one, are twice as far from the answers."""
    files = good_submission(folder, shift=shift), good_submission(folder, shift=2 * shift)
    pairs = zip(*(file.splitlines() for file in files), strict=True)
    return b"\n".join(pair[number % 2] for number, pair in enumerate(pairs))


def line(run: Run, slug: str) -> dict:
    page = run.client.post(f"{SERVICE}/GetLeaderboard", json={"competitionName": slug}).json()
    (found,) = page["submissions"]
    return found


@pytest.mark.parametrize(("feedback", "kind"), [("public", "public_score"), ("full", "score")])
def test_it_has_the_best_score_of_all(podium: Podium, feedback: str, kind: str) -> None:
    folder = podium.competition(leaderboard=None)
    run = podium.run(folder, feedback=feedback)
    sent = [
        run.submit(submission(folder, shift), Prefer="return=minimal").json() for shift in SHIFTS
    ]
    until = time.monotonic() + 60
    states: set[str] = set()
    while states != {"graded"} and time.monotonic() < until:
        time.sleep(0.05)
        listed = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        states = {one["state"] for one in listed}
    known = podium.admin.get(f"/v1/submissions/{sent[1]['id']}").json()["grade"][kind]
    score, at = "", ""
    while score != repr(known) and time.monotonic() < until:  # `public` shows it later
        score, at = (line(run, folder.name)[name] for name in ("score", "submissionDate"))
    told = run.client.get(f"/v1/runs/{run.id}/exposure").json()["disclosed"]
    kinds = {"public_score"} if feedback == "public" else {"public_score", "private_score"}
    assert float(score) == known == pytest.approx(0.25 if kind == "public_score" else 0.125)
    assert at > sent[-1]["received_at"][:19]
    best = {one["kind"] for one in told if one["submission"] == sent[1]["id"]}
    assert best == kinds
    if feedback == "full":
        assert {one["submission"] for one in told} == {sent[1]["id"]}


@pytest.mark.parametrize("feedback", ["none", "validity", "search"])
def test_it_has_no_score_that_the_policy_hides(
    podium: Podium, tiny: Path, good: bytes, feedback: str
) -> None:
    run = podium.run(tiny, feedback=feedback)
    run.submit(good)
    assert line(run, tiny.name)["score"] == ""
    told = run.client.get(f"/v1/runs/{run.id}/exposure").json()["disclosed"]
    assert not [one for one in told if one["kind"] in ("public_score", "private_score")]
