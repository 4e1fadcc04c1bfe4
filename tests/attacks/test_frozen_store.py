"""S3 takes connections and answers nothing: requests that need no file go on."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from app.services.submissions.storing_threads import LARGE_BYTES
from tests.api.conftest import Podium
from tests.attacks.conftest import serving_from
from tests.attacks.test_signed_addresses import RPC
from tests.factories import good_submission
from tests.s3 import S3Server
from tests.server import PodiumServer

DOWNLOADS = 60  # more than the threads of a server
UPLOADING_RUNS = 11  # with four files each, they are more than AnyIO's threads


@pytest.fixture
def server(own_s3: S3Server, tmp_path: Path) -> Iterator[PodiumServer]:
    """A server whose files are in S3."""
    with serving_from(own_s3, tmp_path) as server:
        yield server
        own_s3.send(signal.SIGCONT)


def test_downloads_from_a_store_that_answers_nothing_keep_nobody_else_waiting(
    podium: Podium, server: PodiumServer, own_s3: S3Server
) -> None:
    folder = podium.competition()
    run = podium.run(folder, "full")
    sent = run.submit(good_submission(folder, shift=0.5)).json()
    files = podium.admin.get(f"/v1/competitions/{folder.name}/files").json()["items"]
    for kind in (server.data_dir / "cache").iterdir():
        if kind.name != "making":  # of this process
            shutil.rmtree(kind)
    own_s3.send(signal.SIGSTOP)

    def download(number: int) -> int:
        name = files[number % len(files)]["name"]
        return run.client.get(
            f"/v1/competitions/{folder.name}/files/{name}", timeout=300
        ).status_code

    with ThreadPoolExecutor(DOWNLOADS) as pool:
        downloads = [pool.submit(download, number) for number in range(DOWNLOADS)]
        wait(downloads, return_when=FIRST_COMPLETED)
        read = podium.admin.get(f"/v1/submissions/{sent['id']}", timeout=20)
        wait(downloads, 30)
        answered = [one.done() for one in downloads]
        own_s3.send(signal.SIGCONT)
        assert {one.result() for one in downloads} == {503}
    assert read.json()["state"] == "graded"
    assert all(answered)
    assert run.submit(good_submission(folder, shift=0.25)).status_code == 201
    assert download(0) == 200


def test_large_uploads_to_a_store_that_answers_nothing_keep_nobody_else_waiting(
    podium: Podium, own_s3: S3Server
) -> None:
    folder = podium.competition()
    body = b"x" * (LARGE_BYTES + 1)
    announced = {
        "competitionName": folder.name, "contentLength": len(body), "fileName": "a.csv",
    }  # fmt: skip
    addresses = []
    for _ in range(UPLOADING_RUNS):
        client = podium.run(folder, "full").client
        addresses += [
            client.post(f"{RPC}/StartSubmissionUpload", json=announced).json()["createUrl"]
            for _ in range(4)  # as many as a run sends at once
        ]
    stranger = podium.client()  # a signed address needs no key
    own_s3.send(signal.SIGSTOP)

    with ThreadPoolExecutor(len(addresses)) as pool:
        uploads = [pool.submit(stranger.put, each, content=body) for each in addresses]
        wait(uploads, 2)  # so that all have been received
        read = podium.admin.get("/v1/experiments")
        waiting = [one for one in uploads if not one.done()]
        own_s3.send(signal.SIGCONT)

    assert read.status_code == 200
    assert len(waiting) == len(uploads)
