import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.factories import good_submission, write_competition, write_submission
from tests.graders.pool import FolderPool

SECONDS = 6.0
MEMORY_MB = 400


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FolderPool]:
    with FolderPool(processes=2, seconds=SECONDS, memory_mb=MEMORY_MB, cache_mb=64) as pool:
        pool.warm_up()
        # Both graders start a process for metric.py with the first such job.
        folder = tmp_path_factory.mktemp("warm") / "warm" / "v1"
        text = "import time\ndef score(answers, submission):\n    time.sleep(0.5)\n    return 0.0\n"
        write_competition(folder, metric_py=text, leaderboard=None, usage=None)
        file = write_submission(folder.parent / "file.csv", good_submission(folder))
        for job in [pool.grade(folder, file) for _ in range(4)]:
            job.result(60)
        yield pool


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A competition that any grader can grade at once."""
    return write_competition(tmp_path / "tiny" / "v1")


@pytest.fixture
def tiny_file(tmp_path: Path, tiny: Path) -> Path:
    """A perfect submission to it."""
    return write_submission(tmp_path / "tiny.csv", good_submission(tiny))


@pytest.fixture
def with_metric(tmp_path: Path) -> Callable[[str], tuple[Path, Path]]:
    """Makes a competition with this metric.py, and a perfect submission to it."""

    def make(metric_py: str) -> tuple[Path, Path]:
        folder = tmp_path / f"custom-{time.monotonic_ns()}" / "v1"
        write_competition(folder, metric_py=metric_py, leaderboard=None, usage=None)
        return folder, write_submission(folder.parent / "file.csv", good_submission(folder))

    return make


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that must happen."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.02)
