"""What a power failure may take, files that were never synced, comes back from the journal."""

from __future__ import annotations

from pathlib import Path

from tests.distributed.cluster import is_settled, wait_until
from tests.factories import good_submission, write_competition
from tests.server import PodiumServer
from tests.system.test_crash import set_up


def test_an_acknowledged_file_that_the_disk_had_not_yet_is_there_after_the_next_start(
    tmp_path: Path,
) -> None:
    server = PodiumServer(tmp_path / "data").start()
    folder = write_competition(tmp_path / "power", rows=50)
    run = set_up(server, folder)
    body = good_submission(folder, shift=0.25)
    with server.client(run["key"]) as agent:
        answer = agent.post(
            f"/v1/runs/{run['id']}/submissions", content=body, headers={"Content-Type": "text/csv"}
        )
    assert answer.status_code == 202
    server.kill()
    sha256 = answer.json()["sha256"]
    (server.data_dir / "blobs" / sha256[:2] / sha256[2:]).unlink()

    server.start()
    with server.client() as admin:
        settled = wait_until(admin, answer.json()["id"], is_settled)
        assert settled["state"] == "graded"
        assert admin.get(f"/v1/submissions/{settled['id']}/file").content == body
    assert server.stop() == 0
