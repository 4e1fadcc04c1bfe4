"""After a crash of the machine the journal alone has some files, and the disk has changed it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.attacks.test_damaged_disk import blob_of
from tests.factories import good_submission
from tests.server import PodiumServer
from tests.storage.disks import unreadable_file

HEAD_BYTES, LENGTH_AT = 48, 8


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 0x10
    file.write_bytes(data)


@pytest.mark.parametrize("at", [0, LENGTH_AT, HEAD_BYTES - 1, HEAD_BYTES + 20])
def test_a_flipped_bit_costs_its_own_file_and_no_other(podium: Podium, at: int) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    bodies = [good_submission(folder) + b"\n" * number for number in range(1, 5)]
    sent = [run.submit(body).json() for body in bodies]
    podium.server.kill()
    (journal,) = podium.server.data_dir.glob("blobs/journals/*")
    flip(journal, at)
    for one in sent:
        blob_of(podium, one["sha256"]).unlink()

    podium.server.start()

    files = [run.client.get(f"/v1/submissions/{one['id']}/file") for one in sent]
    assert [file.status_code for file in files] == [500, 200, 200, 200]
    assert [file.content for file in files[1:]] == bodies[1:]
    assert "a journal has a damaged record" in podium.server.log.read_text()


def unreadable(journal: Path) -> None:
    journal.symlink_to(unreadable_file())


@pytest.mark.parametrize("make", [unreadable, os.mkfifo, os.mkdir])
def test_a_journal_that_cannot_be_read_keeps_no_server_from_starting(
    podium: Podium, make: Callable[[Path], None]
) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    lost = run.submit(good_submission(folder) + b"\n").json()
    podium.server.kill()
    make(podium.server.data_dir / "blobs" / "journals" / "0")
    blob_of(podium, lost["sha256"]).unlink()

    podium.server.start()

    file = run.client.get(f"/v1/submissions/{lost['id']}/file")
    assert file.content == good_submission(folder) + b"\n"
    assert run.submit(good_submission(folder)).json()["state"] == "graded"
    assert "cannot be read, and stays" in podium.server.log.read_text()
