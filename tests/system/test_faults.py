"""Failures outside of Podium, over HTTP: the answer names them, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from app.services.operations.storage_probe import PROBE_SECONDS
from tests.api.conftest import Podium, Run, packed
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer
from tests.storage.disks import fill, small_disk


def run_on(server: PodiumServer, folder: Path, stack: contextlib.ExitStack) -> Run:
    podium = Podium(server, folder.parent, stack)
    assert podium.send_folder(folder).status_code in (200, 201)
    return podium.run(folder, feedback="full", limits={"submissions_total": 1})


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    own_server: Callable[..., PodiumServer], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    folder = write_competition(tmp_path / "tiny", rows=200)
    try:
        server = own_server(disk / "data")
        with contextlib.ExitStack() as stack:
            podium = Podium(server, tmp_path, stack)
            assert podium.send_folder(folder).status_code == 201
            run = podium.run(folder)
            good = good_submission(folder)
            first = run.submit(good)
            browser = stack.enter_context(server.client(key=""))
            browser.headers = httpx.Headers({"Accept": "text/html"})
            assert browser.post("/login", data={"key": server.key}).status_code == 303
            big = run.submit(good + b"x" * (40 << 20))
            (disk / "ballast").write_bytes(b"")
            with contextlib.suppress(OSError), (disk / "ballast").open("wb") as ballast:
                while True:
                    ballast.write(b"\0" * 65536)
            full = run.submit(good + b"\n")
            page = browser.post("/operations/imports", files={"archive": ("x.zip", b"x")})
            (disk / "ballast").unlink()
            again = run.submit(good + b"\n")
            listed = podium.admin.get(f"/v1/runs/{run.id}/submissions").json()["items"]
        uploads = list((disk / "data" / "blobs" / "uploads").iterdir())
        assert server.stop() == 0
    finally:
        subprocess.run(["umount", "-l", disk], check=True)

    assert first.json()["state"] == "graded"
    assert big.status_code == 507
    assert big.json()["type"] == "/problems/storage-full"
    assert full.status_code == page.status_code == 507
    assert "make room on that disk, then reload this page" in page.text
    assert again.json()["state"] == "graded"
    assert [s["id"] for s in listed] == [first.json()["id"], again.json()["id"]]
    assert uploads == []


def test_readyz_tells_of_a_full_disk_of_a_database_beside_the_data_directory(
    tmp_path: Path,
) -> None:
    folder = write_competition(tmp_path / "tiny")
    with small_disk(tmp_path / "disk", 8 * 1024) as disk, contextlib.ExitStack() as stack:
        url = f"sqlite:///{disk}/podium.db"
        server = PodiumServer(tmp_path / "data", url, migrates=True, graders=1).start()
        stack.callback(server.stop)
        podium = Podium(server, tmp_path, stack)
        assert podium.send_folder(folder).status_code == 201
        run, good = podium.run(folder), good_submission(folder)
        before = podium.admin.get("/readyz")
        ballast = fill(disk)
        refused = [run.submit(good + b"\n" * n) for n in range(20)]
        time.sleep(2 * PROBE_SECONDS)
        full = podium.admin.get("/readyz")
        ballast.unlink()
        after = run.submit(good)
        time.sleep(2 * PROBE_SECONDS)
        again = podium.admin.get("/readyz")

    assert 507 in {answer.status_code for answer in refused}
    assert full.status_code == 503
    assert "the disk of the database is full" in full.json()["storage"]
    assert after.json()["state"] == "graded"
    assert (before.status_code, again.status_code) == (200, 200)


def test_a_locked_database_is_waited_for(
    own_server: Callable[..., PodiumServer], tmp_path: Path
) -> None:
    folder = write_competition(tmp_path / "tiny")
    server = own_server()
    with contextlib.ExitStack() as stack:
        run = run_on(server, folder, stack)
        lock = sqlite3.connect(
            server.data_dir / "podium.db", isolation_level=None, check_same_thread=False
        )
        lock.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(2.0, lambda: (lock.execute("ROLLBACK"), lock.close()))
        release.start()
        started = time.monotonic()
        answer = run.submit(good_submission(folder))
        release.join()

    assert answer.json()["state"] == "graded"
    assert time.monotonic() - started >= 1.5


def test_an_import_that_is_broken_off_leaves_no_version(podium: Podium, tmp_path: Path) -> None:
    folder = write_competition(tmp_path / "cut")
    body = packed(folder)

    answer = podium.admin.post(
        "/v1/competitions", files={"archive": ("cut.tar.gz", body[: len(body) // 2])}
    )

    assert answer.status_code == 422
    assert podium.admin.get("/v1/competitions/cut").status_code == 404
    assert list((podium.server.data_dir / "tmp").iterdir()) == []
