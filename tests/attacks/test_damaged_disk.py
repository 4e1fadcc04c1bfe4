"""Bytes that change on the disk, files that are lost, and servers on the wrong files."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.api.conftest import Podium
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.postgres import Postgres
from tests.server import PodiumServer

LARGE = 300 * 1024


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def damage(file: Path) -> None:
    """Change one byte, and leave the size as it is."""
    data = bytearray(file.read_bytes())
    data[-2] = ord("9") if data[-2] != ord("9") else ord("8")
    file.chmod(0o640)
    file.write_bytes(data)


def blob_of(podium: Podium, sha256: str) -> Path:
    return podium.server.data_dir / "blobs" / sha256[:2] / sha256[2:]


def refusal(server: PodiumServer) -> str:
    """The last lines of a server that must not start."""
    done = run_podium(
        ["serve", "--port", "0"],
        env=server.environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("padding", [0, LARGE])
def test_a_damaged_copy_is_replaced_when_the_right_bytes_come(podium: Podium, padding: int) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    body = good_submission(folder) if not padding else b"id,target\n" + b"r1,1\n" * (padding // 5)
    first = run.submit(body).json()
    file = blob_of(podium, first["sha256"])
    damage(file)

    wrong = run.client.get(f"/v1/submissions/{first['id']}/file")
    again = run.submit(body).json()

    assert wrong.status_code == 500
    assert "is damaged" in podium.server.log.read_text()
    assert file.read_bytes() == body
    assert again["state"] == first["state"] == ("rejected" if padding else "graded")
    assert run.client.get(f"/v1/submissions/{first['id']}/file").content == body


@pytest.mark.parametrize("name", ["private/answers.csv", "public/sample_submission.csv"])
def test_damaged_files_of_a_version_grade_nothing(podium: Podium, name: str) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    good = run.submit(good_submission(folder, shift=0.1)).json()
    podium.server.stop()
    (file,) = podium.server.data_dir.glob(f"competitions/{folder.name}/*/{name}")
    damage(file)
    podium.server.start()

    again = run.submit(good_submission(folder, shift=0.1))
    checked = run.validate(good_submission(folder))

    assert good["state"] == "graded"
    assert checked.is_success == (name == "private/answers.csv")  # a check reads no answers
    assert again.json().get("state") != "graded"
    assert "is damaged" in podium.server.log.read_text()


def test_a_damaged_public_file_is_not_sent(podium: Podium) -> None:
    folder = podium.competition()
    path = f"/v1/competitions/{folder.name}/files/train.csv"
    assert podium.admin.get(path).status_code == 200
    (file,) = podium.server.data_dir.glob(f"competitions/{folder.name}/*/public/train.csv")
    damage(file)

    assert podium.admin.get(path).status_code == 500


@pytest.mark.parametrize("page", [1, 4])
def test_a_database_with_damaged_pages_is_refused(server: PodiumServer, page: int) -> None:
    server.stop()
    file = server.data_dir / "podium.db"
    with file.open("r+b") as database:
        database.seek(page * 4096)
        database.write(b"\xa5" * 4096)

    said = refusal(server)

    assert "is damaged" in said
    assert "podium restore" in said


def test_a_database_that_is_damaged_while_a_server_runs_is_not_ready(
    own_server: PodiumServer,
) -> None:
    with own_server.client() as admin:
        body = {"name": "e", "agent": "a", "model": "m"}
        assert admin.post("/v1/experiments", json=body).status_code == 201
        assert admin.get("/readyz").json()["database"] == "ok"
    own_server.stop()  # so that all pages are in the file
    own_server.start()
    file = own_server.data_dir / "podium.db"
    with file.open("r+b") as database:
        database.seek(2 * 4096)
        database.write(b"\xa5" * (file.stat().st_size - 2 * 4096))

    with own_server.client("no-key") as stranger:
        found = stranger.get("/readyz")
    assert found.status_code == 503
    assert "damaged page, or one that the disk cannot read" in found.json()["database"]
    assert "the database is damaged" in own_server.log.read_text()


@pytest.mark.parametrize("how", ["emptied", "removed"])
def test_an_empty_database_beside_a_used_directory_is_refused(
    server: PodiumServer, how: str
) -> None:
    server.stop()
    for file in server.data_dir.glob("podium.db*"):
        file.unlink()
    if how == "emptied":
        (server.data_dir / "podium.db").touch()

    said = refusal(server)

    assert "is empty, but the data directory" in said
    assert "podium restore" in said


def test_two_servers_with_directories_of_their_own_are_refused(
    tmp_path: Path, postgres: Postgres, migrated_postgres: str
) -> None:
    with postgres.database(migrated_postgres) as name:
        first = PodiumServer(tmp_path / "first", postgres.url(name), graders=1).start()
        try:
            said = refusal(PodiumServer(tmp_path / "second", postgres.url(name), graders=1))
        finally:
            first.stop()

        assert "PODIUM_BLOBS_URL" in said
        first.start()  # after a restart it is the same store
        first.stop()


def test_a_version_without_files_here_hides_no_other(podium: Podium) -> None:
    kept, lost, refused = (podium.competition() for _ in range(3))
    runs = {folder.name: podium.run(folder).id for folder in (kept, lost, refused)}
    podium.server.stop()
    data = podium.server.data_dir
    shutil.rmtree(data / "competitions" / lost.name)
    with contextlib.closing(sqlite3.connect(data / "podium.db")) as rows, rows:
        found = rows.execute(
            "SELECT f.sha256 FROM version_file f JOIN competition_version v ON v.id = f.version_id "
            "WHERE v.slug = ? AND f.path = 'competition.toml'", (lost.name,)
        )  # fmt: skip
        blob_of(podium, found.fetchone()[0]).unlink()
        rows.execute(
            "UPDATE competition_version SET toml = 'of_the_future = 1' WHERE slug = ?",
            (refused.name,),
        )
    podium.server.start()

    listed = podium.admin.get("/v1/competitions")
    runs_listed = podium.admin.get("/v1/runs")

    assert listed.status_code == 200, listed.text
    states = {one["slug"]: one["status"] for one in listed.json()["items"]}
    assert states == {kept.name: "ready", lost.name: "needs_data"}
    assert runs_listed.status_code == 200, runs_listed.text
    assert {one["id"] for one in runs_listed.json()["items"]} == set(runs.values())
    log = podium.server.log.read_text()
    assert lost.name in log
    assert refused.name in log
