"""Files that the disk cannot read, and named pipes and links to nothing in place of files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.conftest import Podium, Run
from tests.attacks.test_damaged_disk import blob_of, damage, refusal
from tests.factories import good_submission
from tests.server import PodiumServer
from tests.storage.disks import unreadable_file

Submit = Callable[[Run, bytes], httpx.Response]
UNREADABLE_BYTES = 4096
RPC = "/api/v1/competitions.CompetitionApiService"


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def body_of(folder: Path) -> bytes:
    """A valid submission that has as many bytes as an unreadable file."""
    return good_submission(folder).ljust(UNREADABLE_BYTES, b"\n")


def unreadable(path: Path) -> None:
    path.symlink_to(unreadable_file())


def dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def plain(run: Run, body: bytes) -> httpx.Response:
    return run.submit(body)


def form(run: Run, body: bytes) -> httpx.Response:
    run.client.timeout = httpx.Timeout(20)
    parts: Any = {"file": ("submission.csv", body, "text/csv")}
    path = f"/v1/runs/{run.id}/submissions"
    return run.client.post(path, files=parts, headers={"Prefer": "wait=10"})


@pytest.mark.parametrize("make", [unreadable, os.mkfifo])
@pytest.mark.parametrize("submit", [plain, form])
def test_the_same_bytes_replace_what_cannot_be_read(
    podium: Podium, make: Callable[[Path], None], submit: Submit
) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    body = body_of(folder)
    first = run.submit(body).json()
    file = blob_of(podium, first["sha256"])
    file.unlink()
    make(file)

    again = submit(run, body)

    assert again.status_code == 201, again.text
    assert again.json()["state"] == "graded"
    assert run.client.get(f"/v1/submissions/{first['id']}/file").content == body


def test_an_unreadable_file_is_a_fault_of_the_store(podium: Podium) -> None:
    """Nobody looks for a defect of Podium where a disk is broken."""
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    sent = run.submit(body_of(folder)).json()
    file = blob_of(podium, sent["sha256"])
    file.unlink()
    unreadable(file)

    made = podium.admin.post(f"/v1/competitions/{folder.name}/regrades", json={}).json()
    states: set[str] = set()
    while "ready" not in states:
        states.add(podium.admin.get(f"/v1/regrades/{made['id']}").json()["state"])

    log = [line for line in podium.server.log.read_text().splitlines() if "grading fault" in line]
    assert log
    assert all('"kind": "storage"' in line for line in log)


@pytest.mark.parametrize("rot", [damage, unreadable])
def test_an_upload_that_rots_replaces_no_right_file(
    podium: Podium, rot: Callable[[Path], None]
) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    body = body_of(folder)
    first = run.submit(body).json()
    call = {"competitionName": folder.name, "contentLength": len(body), "fileName": "a.csv"}
    started = run.client.post(f"{RPC}/StartSubmissionUpload", json=call).json()
    run.client.put(started["createUrl"], content=body).raise_for_status()
    (held,) = podium.server.data_dir.glob("blobs/held/*")
    if rot is unreadable:
        held.unlink()
    rot(held)

    call = {"competitionName": folder.name, "blobFileTokens": started["token"]}
    done = run.client.post(f"{RPC}/CreateSubmission", json=call)

    assert done.status_code == 500
    assert "send the file again" in podium.server.log.read_text()
    assert len(run.client.get(f"/v1/runs/{run.id}/submissions").json()["items"]) == 1
    assert run.client.get(f"/v1/submissions/{first['id']}/file").content == body


@pytest.mark.parametrize("make", [unreadable, dangling, os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["instance", "blobs/store", "blobs/database"])
def test_a_start_tells_which_file_of_its_own_cannot_be_read(
    podium: Podium, name: str, make: Callable[[Path], None]
) -> None:
    podium.server.stop()
    file = podium.server.data_dir / name
    file.unlink()
    make(file)

    said = refusal(podium.server)

    assert f"{file} cannot be read" in said


def loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, loop])
def test_what_is_no_upload_keeps_no_server_from_starting(
    podium: Podium, make: Callable[[Path], None]
) -> None:
    podium.server.stop()
    make(podium.server.data_dir / "blobs" / "uploads" / "0")

    podium.server.start()

    assert podium.client().get("/readyz").status_code == 200


@pytest.mark.parametrize("name", ["cache", "cache/making"])
def test_a_directory_that_is_a_link_to_nothing_is_told(podium: Podium, name: str) -> None:
    """Such as a cache on another disk, which is not mounted."""
    podium.server.stop()
    directory = podium.server.data_dir / name
    shutil.rmtree(directory)
    dangling(directory)

    assert f"File exists: {directory}" in refusal(podium.server)
