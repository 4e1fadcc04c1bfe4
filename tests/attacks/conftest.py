"""A real server to attack, and a pool that grades hostile competitions beside honest ones."""

from __future__ import annotations

import contextlib
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Podium
from tests.attacks.sockets import warmed
from tests.factories import good_submission, write_competition, write_submission
from tests.graders.pool import FolderPool
from tests.s3 import S3Server
from tests.server import PodiumServer

# Many times what an attack takes that ends: here nothing is stopped because of the time.
SECONDS = 50.0
# Every grader is locked in alike; with one of each kind, each attack meets the next job's process.
POOL = {"processes": 1, "seconds": SECONDS, "memory_mb": 400, "cache_mb": 64}


@pytest.fixture(scope="module")
def pool() -> Iterator[FolderPool]:
    with FolderPool(**POOL) as pool:
        pool.warm_up()
        yield pool


def metric(body: str, before: str = "") -> str:
    """A metric.py whose `score` has this body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"{textwrap.dedent(before)}\ndef score(answers, submission):\n{lines}\n"


Competition = tuple[Path, Path]


@pytest.fixture
def competition(tmp_path: Path) -> Callable[..., Competition]:
    """Makes a competition (with this metric.py, if any), and a submission to it."""

    def make(metric_py: str | None = None, *, shift: float = 0.0, **options: Any) -> Competition:
        folder = tmp_path / f"competition-{time.monotonic_ns()}" / "v1"
        write_competition(folder, metric_py=metric_py, **options)
        data = good_submission(folder, shift=shift)
        return folder, write_submission(folder.parent / "file.csv", data)

    return make


@pytest.fixture
def attack(pool: FolderPool, competition: Callable[..., Competition]) -> Callable[..., Any]:
    """Grades by a metric.py with this body; gives what came of it."""

    def grade(body: str, before: str = "import os, sys, time") -> Any:
        folder, file = competition(metric(body, before), leaderboard=None, usage=None)
        return pool.grade(folder, file).result(60)

    return grade


@pytest.fixture
def others_are_graded_as_ever(
    pool: FolderPool, competition: Callable[..., Competition]
) -> Iterator[None]:
    """Whatever a metric did: the medals and scores of all other competitions stay right."""
    yield
    folder, file = competition(shift=0.07)
    graded = pool.grade(folder, file).result(60)
    assert graded.score == pytest.approx(0.07)
    assert graded.standing.medal.value == "silver"
    honest = metric("return float((answers['target'] - submission['target']).abs().sum())")
    folder, file = competition(honest, shift=1.0, leaderboard=None, usage=None)
    assert pool.grade(folder, file).result(60).score == pytest.approx(20.0)


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PodiumServer]:
    """One server for the tests of a module, with the settings that the module has in SETTINGS."""
    settings = {"graders": 1, **getattr(request.module, "SETTINGS", {})}
    started = PodiumServer(tmp_path_factory.mktemp("server") / "data", **settings)
    warmed(started.start())
    yield started
    started.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[PodiumServer]:
    """A server of the test's own, which the test may kill."""
    started = PodiumServer(tmp_path / "data", graders=1).start()
    yield started
    started.kill()


@contextlib.contextmanager
def serving_from(s3: S3Server, home: Path) -> Iterator[PodiumServer]:
    """A server whose files are in a new bucket. It is killed, since `s3` may be away at the end."""
    server = PodiumServer(home / "data", graders=1, blobs_url=f"s3://{s3.bucket()}/podium")
    server.environment.update(s3.environment)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def podium(server: PodiumServer, tmp_path: Path) -> Iterator[Podium]:
    """The server as tests of HTTP use it."""
    with contextlib.ExitStack() as clients:
        yield Podium(server, tmp_path / "folders", clients)
