"""After a crash a stored file cannot be read. The server starts, and the journal has the bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.journal import recover_abandoned
from app.storage.blobs.small_files import SmallFiles
from tests.api.conftest import Podium
from tests.attacks.test_damaged_disk import blob_of
from tests.factories import good_submission
from tests.server import PodiumServer
from tests.storage.small_bodies import put_all

BODIES = [b"id,count\n%d,2\n" % number for number in range(20)]


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def in_the_way(path: Path, what: str) -> None:
    """Replace a file by something that cannot be read as one."""
    path.unlink()
    if what == "loop":
        path.symlink_to(path)
    else:
        (path / "something").mkdir(parents=True)


@pytest.mark.parametrize(("what", "count"), [("loop", 1), ("directory", 0)])
def test_the_others_of_a_journal_are_recovered(tmp_path: Path, what: str, count: int) -> None:
    store = DiskBlobs(tmp_path / "blobs")
    small = SmallFiles(store)
    blobs = put_all(small, BODIES)
    small.close()
    paths = [store.path(blob.sha256) for blob in blobs]
    in_the_way(paths[0], what)
    paths[-1].unlink()

    assert recover_abandoned(store) == 1 + count

    assert [path.read_bytes() for path in paths[1:]] == BODIES[1:]
    kept = list((store.root / "journals").iterdir())
    assert len(kept) == 1 - count
    if kept:  # what stood in the way is removed
        (paths[0] / "something").rmdir()
        paths[0].rmdir()
        assert recover_abandoned(store) == 1
    assert paths[0].read_bytes() == BODIES[0]
    assert list((store.root / "journals").iterdir()) == []


def test_a_server_starts(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    body = good_submission(folder)
    sent = run.submit(body).json()
    other = run.submit(body + b"\n").json()
    podium.server.kill()
    in_the_way(blob_of(podium, sent["sha256"]), "directory")
    in_the_way(blob_of(podium, other["sha256"]), "loop")

    podium.server.start()

    assert run.client.get(f"/v1/submissions/{other['id']}/file").content == body + b"\n"
    assert run.client.get(f"/v1/submissions/{sent['id']}/file").status_code == 500
    assert run.submit(body + b"\n\n").status_code in (201, 202)
