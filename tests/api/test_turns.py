"""Runs take turns at the graders: one run's many files keep nobody else waiting."""

from __future__ import annotations

import time

from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission

SLOW = "import time\n\ndef score(answers, submission):\n    time.sleep(0.6)\n    return 0.0\n"
FILES = 12


def state_of(run: Run, submission: str) -> str:
    state: str = run.client.get(f"/v1/submissions/{submission}").json()["state"]
    return state


def test_a_file_does_not_wait_for_the_many_of_another_run(podium: Podium) -> None:
    slow = podium.competition(metric_py=SLOW, leaderboard=None, usage=None)
    quick = podium.competition()
    many, other = podium.run(slow, feedback="full"), podium.run(quick, feedback="full")
    bodies = [good_submission(slow, shift=number / 100) for number in range(FILES)]
    sent = []
    for body in bodies:
        answer = many.client.post(f"/v1/runs/{many.id}/submissions", content=body, headers=CSV)
        assert answer.status_code == 202, answer.text
        sent.append(answer.json()["id"])

    started = time.monotonic()
    answer = other.submit(good_submission(quick, shift=0.1))
    waited = time.monotonic() - started
    states = [state_of(many, submission) for submission in sent]

    assert answer.json()["state"] == "graded"
    # Far from what all the files take. A worker may be at one file of the run with each grader.
    assert states.count("graded") <= FILES // 2, (waited, states)
    deadline = time.monotonic() + 60
    while any(state_of(many, submission) != "graded" for submission in sent):
        assert time.monotonic() < deadline
        time.sleep(0.1)
