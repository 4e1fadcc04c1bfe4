"""Regrades are killed three times in the middle: the difference is that of undisturbed ones.

PODIUM_TEST_REGRADED=20 regrades so many competitions in place of 3.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import packed
from tests.distributed.cluster import is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.podium_worker import PodiumWorker
from tests.server import PodiumServer

COMPETITIONS = int(os.environ.get("PODIUM_TEST_REGRADED", "3"))
EXPERIMENTS = 2
SHIFTS = (0.02, 0.31, 1.2)  # of the files of each run; the last is final
KILLS_AT = (0.15, 0.45, 0.75)  # of all submissions
SECONDS = 300
LOOK = 0.3  # seconds between two looks: each asks for the regrades of every competition
SLOW = 0.6  # seconds of a regrading, so that a kill comes in the middle on a quick machine too
METRIC = """
import time

def score(answers, submission):
    time.sleep({seconds})
    return float((answers["target"] - submission["target"] - {wrong}).abs().mean())
"""
VOLATILE = ("id", "created_at", "ready_at")


@dataclass
class Crashable:
    """A Podium whose grading process can be killed and started again."""

    server: PodiumServer
    kill: Callable[[], None]


@pytest.fixture(params=["embedded", "queue"])
def crashable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crashable]:
    with contextlib.ExitStack() as stack:
        if request.param == "embedded":
            server = PodiumServer(tmp_path / "data").start()
            stack.callback(server.stop)

            def kill() -> None:
                server.kill()
                server.start()

            yield Crashable(server, kill)
            return
        postgres = request.getfixturevalue("postgres")
        migrated = request.getfixturevalue("migrated_postgres")
        url = postgres.url(stack.enter_context(postgres.database(migrated)))
        settings = {"dispatch": "queue", "heartbeat_seconds": 0.5}
        server = PodiumServer(tmp_path / "data", url, **settings).start()
        stack.callback(server.stop)
        workers = [PodiumWorker(server, tmp_path / "worker-0").start()]
        stack.callback(lambda: workers[-1].stop())

        def kill_worker() -> None:
            workers[-1].kill()
            server.kill()
            server.start()
            workers.append(PodiumWorker(server, tmp_path / f"worker-{len(workers)}").start())

        yield Crashable(server, kill_worker)


def test_killed_regrades_give_the_difference_of_undisturbed_ones(
    crashable: Crashable, tmp_path: Path
) -> None:
    server = crashable.server
    with server.client() as admin:
        slugs = [set_up(admin, tmp_path, number) for number in range(COMPETITIONS)]
        undisturbed = [start(admin, slug) for slug in slugs]
        await_share(server, slugs, undisturbed, 1.0)
        expected = [difference(admin, one) for one in undisturbed]
        killed = [start(admin, slug) for slug in slugs]
    for share in KILLS_AT:
        assert await_share(server, slugs, killed, share) < 1.0, "it was killed too late"
        crashable.kill()
    await_share(server, slugs, killed, 1.0)
    with server.client() as admin:
        found = [difference(admin, one) for one in killed]

    assert found == expected
    total = EXPERIMENTS * len(SHIFTS)
    for one in found:
        assert one["progress"]["graded"] == one["progress"]["total"] == total
        counts = one["difference"]["submissions"]
        assert (counts["submissions"], counts["scores"]) == (total, total)
        assert counts["medals_won"] > 0
        assert len(one["difference"]["experiments"]) == EXPERIMENTS


def set_up(admin: httpx.Client, home: Path, number: int) -> str:
    """A competition with graded files of the experiments, and then its mended version."""
    folder = write_competition(
        home / f"regraded-{number}", seed=number, metric="my_error",
        metric_py=METRIC.format(wrong=0.3, seconds=0),
    )  # fmt: skip
    archive = {"archive": ("a.tar.gz", packed(folder))}
    assert admin.post("/v1/competitions", files=archive).status_code == 201
    sent = []
    for experiment in range(EXPERIMENTS):
        name = f"e{experiment}"
        admin.post("/v1/experiments", json={"name": name, "agent": "a", "model": "m"})
        body = {"experiment": name, "competition": folder.name, "seed": 0, "feedback": "full"}
        run = admin.post("/v1/runs", json=body).json()
        for shift in SHIFTS:
            file = good_submission(folder, shift=shift + 0.01 * experiment)
            answer = admin.post(
                f"/v1/runs/{run['id']}/submissions", content=file,
                headers={"Content-Type": "text/csv", "Authorization": f"Bearer {run['key']}"},
            )  # fmt: skip
            assert answer.status_code in (201, 202), answer.text
            sent.append(answer.json()["id"])
    for one in sent:
        assert wait_until(admin, one, is_settled)["state"] == "graded"
    mended = home / "mended" / folder.name
    shutil.copytree(folder, mended)
    (mended / "metric.py").write_text(METRIC.format(wrong=0.0, seconds=SLOW))
    archive = {"archive": ("a.tar.gz", packed(mended))}
    assert admin.post("/v1/competitions", files=archive).json()["version"] == 2
    return folder.name


def start(admin: httpx.Client, slug: str) -> str:
    made = admin.post(f"/v1/competitions/{slug}/regrades", json={"version": 2})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def await_share(server: PodiumServer, slugs: list[str], regrades: list[str], share: float) -> float:
    """Wait until this share of all submissions is graded (1.0: all are ready); says the share.

    It looks at the lists: a regrade by itself is shown with its difference, which takes long.
    """
    until = time.monotonic() + SECONDS
    found: list[dict[str, Any]] = []
    with server.client() as admin:
        while time.monotonic() < until:
            listed = [admin.get(f"/v1/competitions/{slug}/regrades").json() for slug in slugs]
            found = [one for page in listed for one in page["items"] if one["id"] in regrades]
            assert len(found) == len(regrades)
            progress = [one["progress"] for one in found]
            graded = sum(each["graded"] for each in progress)
            now = graded / sum(each["total"] for each in progress)
            if share < 1.0 and now >= share:
                return now
            if all(one["state"] == "ready" for one in found):
                return 1.0
            time.sleep(LOOK)
    raise AssertionError(f"not {share} in {SECONDS} s: {[one['progress'] for one in found]}")


def difference(admin: httpx.Client, regrade: str) -> dict[str, Any]:
    """All that a regrade says, but what is another for each regrade."""
    found: dict[str, Any] = admin.get(f"/v1/regrades/{regrade}", params={"limit": 1000}).json()
    assert found["next_cursor"] is None
    return {name: value for name, value in found.items() if name not in VOLATILE}
