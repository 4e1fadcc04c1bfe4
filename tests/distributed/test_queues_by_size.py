"""Queues by size: what is large and slow does not hold back what is small."""

from __future__ import annotations

from pathlib import Path

from app.queue.sizes import SMALL_BELOW
from tests.distributed.cluster import Cluster, await_that
from tests.distributed.judge import Judge, bodies
from tests.factories import wide_submission, write_competition

ROWS = 40_000  # of 200 digits, more than 8 MB
SMALL = 10
# A file of 250 MB keeps a grader for long. These are smaller, and would keep it for this test.
ENDLESS = """
import time

def score(answers, submission):
    if submission['target'].iloc[0] == 777:
        time.sleep(300)
    return 0.0
"""


def test_large_files_leave_a_grader_for_small_ones(
    two_servers: Cluster, judge: Judge, slow: Path, tmp_path: Path
) -> None:
    large = write_competition(
        tmp_path / "large", rows=ROWS, metric="my_error", metric_py=ENDLESS, usage=None
    )
    header, _, *rest = wide_submission(large).splitlines(keepends=True)
    file = b"".join([header, b"r1,777\n", *rest])
    assert len(file) > SMALL_BELOW
    large_run, small_run = two_servers.set_up(large), two_servers.set_up(slow)
    files = bodies(slow, SMALL)
    two_servers.worker(graders=2).start()
    held = [two_servers.submit_all(large_run, [file], first=n)[0] for n in range(3)]
    await_that(lambda: "grading" in states(two_servers, held), "no large file is graded")

    sent = two_servers.submit_all(small_run, files)
    judge.assert_right(two_servers, sent, files)
    assert states(two_servers, held) == ["grading", "queued", "queued"]


def states(made: Cluster, submissions: list[str]) -> list[str]:
    rows = made.query("SELECT state FROM submission WHERE id = ANY(%s) ORDER BY state", submissions)
    return [row[0] for row in rows]
