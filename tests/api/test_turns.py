"""Runs take turns at the graders: one run's many files keep nobody else waiting."""

from __future__ import annotations

import time

from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission

SLOW = "import time\n\ndef score(answers, submission):\n    time.sleep(1.5)\n    return 0.0\n"
FILES = 8


def states_of(run: Run) -> list[str]:
    """In one request: what is graded between two does not count."""
    return [
        one["state"] for one in run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]
    ]


def test_a_file_does_not_wait_for_the_many_of_another_run(podium: Podium) -> None:
    slow = podium.competition(metric_py=SLOW, leaderboard=None, usage=None)
    quick = podium.competition()
    many, other = podium.run(slow, feedback="full"), podium.run(quick, feedback="full")
    bodies = [good_submission(slow, shift=number / 100) for number in range(FILES)]
    for body in bodies:
        answer = many.client.post(f"/v1/runs/{many.id}/submissions", content=body, headers=CSV)
        assert answer.status_code == 202, answer.text

    started = time.monotonic()
    answer = other.submit(good_submission(quick, shift=0.1))
    waited = time.monotonic() - started
    states = states_of(many)

    assert answer.json()["state"] == "graded"
    # Far from what all the files take. A worker may be at one file of the run with each grader.
    assert states.count("graded") <= FILES // 2, (waited, states)
    deadline = time.monotonic() + 60
    while states_of(many) != ["graded"] * FILES:
        assert time.monotonic() < deadline
        time.sleep(0.1)
