"""`podium verify` finds what rots on the disk, says who needs it, and what mends it does."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.services.operations.verify import verify
from app.services.operations.verify_progress import VerifyProgress, saved
from app.settings import Settings
from app.storage.database import migrations
from tests.api.conftest import Podium
from tests.attacks.test_damaged_disk import blob_of, damage
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.postgres import Postgres
from tests.s3 import S3Server
from tests.server import PodiumServer
from tests.storage.disks import small_disk


@pytest.fixture
def server(own_server: PodiumServer) -> PodiumServer:
    return own_server


def run_verify(server: PodiumServer, *options: str) -> tuple[int, dict[str, Any]]:
    done = run_podium(
        ["verify", "--json", *options],
        env=server.environment, capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_damage_is_named_with_what_to_do_and_mended_by_it(podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder)
    body = good_submission(folder)
    sent = run.submit(body).json()
    lost = run.submit(body + b"\n").json()
    assert run_verify(podium.server)[0] == 0
    damage(blob_of(podium, sent["sha256"]))
    blob_of(podium, lost["sha256"]).unlink()
    (answers,) = podium.server.data_dir.glob(f"competitions/{folder.name}/*/private/answers.csv")
    right = answers.read_bytes()
    damage(answers)

    status, found = run_verify(podium.server)

    assert status == 1
    by_path = {one["path"]: one for one in found["damaged"]}
    first = by_path[str(blob_of(podium, sent["sha256"]))]
    assert "is damaged" in first["problem"]
    assert first["needed_by"] == [f"submission {sent['id']}"]
    assert "send the same bytes again" in first["remedy"]
    assert "cannot be read" in by_path[str(blob_of(podium, lost["sha256"]))]["problem"]
    # The file of the version and its blob are one file on the disk, under two names.
    blob = blob_of(podium, hashlib.sha256(right).hexdigest())
    assert blob.samefile(answers)
    private = by_path[str(blob)]
    assert private["needed_by"] == [f"{folder.name}, version 1, private/answers.csv"]
    assert "import the folder" in private["remedy"]
    assert len(by_path) == 3

    assert podium.send_folder(folder).status_code == 200
    assert run.submit(body).json()["state"] == "graded"
    run.submit(body + b"\n")
    assert run_verify(podium.server) == (0, {**found, "damaged": []})


DAMAGED_PAGE = """
    CREATE FUNCTION damaged_page() RETURNS SETOF integer LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'invalid page in block 0' USING ERRCODE = 'XX001'; END $$;
    ALTER TABLE grade RENAME TO kept;
    CREATE VIEW grade AS SELECT kept.* FROM damaged_page(), kept
"""


def test_what_was_found_before_a_damaged_page_of_postgresql_is_told(
    postgres: Postgres, migrated_postgres: str, tmp_path: Path
) -> None:
    with postgres.database(migrated_postgres) as name, contextlib.ExitStack() as clients:
        server = PodiumServer(tmp_path / "data", postgres.url(name), graders=1).start()
        clients.callback(server.kill)
        podium = Podium(server, tmp_path / "folders", clients)
        run = podium.run(podium.competition())
        place = blob_of(podium, run.submit(b"id,target\n").json()["sha256"])
        damage(place)
        with psycopg.connect(postgres.url(name)) as connection:
            connection.execute("UPDATE run SET state = 'strange'")
            connection.execute(DAMAGED_PAGE)

        status, found = run_verify(server)
        assert run_verify(server, "--resume") == (status, found)

    assert status == 1
    blob, row, database = found["damaged"]
    assert blob["path"] == str(place)
    assert row["path"] == f"table run, id {run.id}, column state"
    assert database["kind"] == "database"
    assert "invalid page in block 0" in database["problem"]
    assert "podium restore" in database["remedy"]


def test_a_damaged_page_with_the_number_of_the_schema_is_told(
    postgres: Postgres, migrated_postgres: str, tmp_path: Path
) -> None:
    with postgres.database(migrated_postgres) as name:
        with psycopg.connect(postgres.url(name)) as connection:
            connection.execute(DAMAGED_PAGE.replace("grade", "alembic_version"))

        status, found = run_verify(PodiumServer(tmp_path / "data", postgres.url(name)))

    assert status == 1
    (database,) = found["damaged"]
    assert database["kind"] == "database"
    assert "invalid page in block 0" in database["problem"]
    assert "podium restore" in database["remedy"]


@pytest.mark.parametrize("kind", ["pipe", "directory", "loop"])
def test_what_is_no_file_is_damage_and_is_not_waited_for(
    podium: Podium, tmp_path: Path, kind: str
) -> None:
    run = podium.run(podium.competition())
    sent = run.submit(b"id,target\n").json()
    place = blob_of(podium, sent["sha256"])
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to(place)

    status, found = run_verify(podium.server)
    backup = run_podium(
        ["backup", str(tmp_path / "backup")],
        env=podium.server.environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert status == 1
    assert [one["path"] for one in found["damaged"]] == [str(place)]
    assert backup.returncode == 1
    assert "missing or damaged" in backup.stderr
    assert "Traceback" not in backup.stderr
    assert run.client.get(f"/v1/submissions/{sent['id']}/file").status_code == 500


def test_words_for_people(podium: Podium) -> None:
    folder = podium.competition()
    sent = podium.run(folder).submit(good_submission(folder)).json()
    damage(blob_of(podium, sent["sha256"]))

    done = run_podium(
        ["verify"],
        env=podium.server.environment, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert f"needed by: submission {sent['id']}" in done.stderr
    assert "what to do: send the same bytes again" in done.stderr
    assert "1 damaged or missing" in done.stdout


def test_a_sample_is_as_large_as_asked(podium: Podium) -> None:
    folder = podium.competition()
    podium.run(folder).submit(good_submission(folder))

    status, found = run_verify(podium.server, "--sample", "3")

    assert (status, found["checked"]) == (0, 3)
    assert run_verify(podium.server, "--sample", "500")[1]["checked"] > 3


def test_an_interrupted_verify_goes_on(podium: Podium) -> None:
    """It is ended in the middle; the rest finds the damage behind, and keeps that before."""
    folder = podium.competition()
    run = podium.run(folder)
    body = good_submission(folder)
    sent = [run.submit(body + b"\n" * number).json()["sha256"] for number in range(12)]
    for sha256 in (min(sent), max(sent)):
        damage(blob_of(podium, sha256))
    settings = Settings(data_dir=podium.server.data_dir)
    file = podium.server.data_dir / "verify.json"
    total = run_verify(podium.server)[1]["checked"]

    class Ended(Exception):
        pass

    def end_after_middle(step: str, done: int, of: int) -> None:
        if progress.after > f"blob {sorted(sent)[6]}":
            raise Ended

    progress = VerifyProgress(file)
    with pytest.raises(Ended):
        verify(settings, end_after_middle, sample=None, progress=progress)
    rest = saved(file)
    assert rest is not None
    assert (rest.checked, len(rest.damaged)) == (progress.checked, 1)
    assert 0 < rest.checked < total
    status, found = run_verify(podium.server, "--resume")

    assert (status, found["checked"]) == (1, total)
    assert [Path(one["path"]).name for one in found["damaged"]] == [min(sent)[2:], max(sent)[2:]]
    assert not file.exists()


def test_a_damaged_database_is_named(server: PodiumServer) -> None:
    server.stop()
    with (server.data_dir / "podium.db").open("r+b") as database:
        database.seek(0, 2)
        size = database.tell()
        database.seek(size - 4096 * 2)
        database.write(b"\xa5" * 4096)

    done = run_podium(
        ["verify"],
        env=server.environment, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert "podium.db" in done.stderr
    assert "Traceback" not in done.stderr


def test_objects_of_a_bucket_are_compared(s3: S3Server, tmp_path: Path) -> None:
    bucket = s3.bucket()
    server = PodiumServer(tmp_path / "data", graders=1, blobs_url=f"s3://{bucket}/p")
    server.environment |= s3.environment
    server.start()
    with contextlib.ExitStack() as clients:
        clients.callback(server.kill)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        sent = podium.run(folder).submit(good_submission(folder)).json()
        assert run_verify(server)[0] == 0
        key = f"p/{sent['sha256'][:2]}/{sent['sha256'][2:]}"
        (s3.root / bucket / key).write_bytes(b"id,target\n")
        status, found = run_verify(server)

    assert status == 1
    assert [one["path"] for one in found["damaged"]] == [f"s3://{bucket}/{key}"]
    assert "remove that object" in found["damaged"][0]["remedy"]


def test_objects_are_compared_although_the_directory_for_temporary_files_is_small(
    s3: S3Server, tmp_path: Path
) -> None:
    bucket = s3.bucket()
    server = PodiumServer(tmp_path / "data", graders=1, blobs_url=f"s3://{bucket}")
    server.environment |= s3.environment
    server.start()
    with contextlib.ExitStack() as clients:
        clients.callback(server.kill)
        podium = Podium(server, tmp_path / "folders", clients)
        podium.run(podium.competition()).submit(b"id,target\n" + b"1,2\n" * 100_000)
        small = clients.enter_context(small_disk(tmp_path / "small", 64))
        server.environment["TMPDIR"] = str(small)
        status, found = run_verify(server)
        assert (status, found["damaged"]) == (0, [])
        assert found["bytes"] > 400_000

    assert list((server.data_dir / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ("UPDATE competition_version SET files = '{'", "files"),
        ("UPDATE competition_version SET status = 'odd'", "status"),
        ("UPDATE competition_version SET imported_at = 'soon'", "imported_at"),
        ("UPDATE competition_version SET title = CAST(x'61ff62' AS TEXT)", "title"),
    ],
)
def test_a_value_that_cannot_be_read_is_named(podium: Podium, change: str, column: str) -> None:
    folder = podium.competition()
    podium.run(folder).submit(good_submission(folder))
    podium.server.stop()
    with (
        contextlib.closing(sqlite3.connect(podium.server.data_dir / "podium.db")) as opened,
        opened,
    ):
        opened.execute("PRAGMA ignore_check_constraints = ON")
        opened.execute(change)
        ((version,),) = opened.execute("SELECT id FROM competition_version").fetchall()

    status, found = run_verify(podium.server)

    assert status == 1
    places = [one["path"] for one in found["damaged"] if one["kind"] == "row"]
    assert places == [f"table competition_version, id {version}, column {column}"]


@pytest.mark.parametrize("revision", ["base", "0006", "0010", "0013"])
def test_a_database_of_an_older_podium_is_told_so(tmp_path: Path, revision: str) -> None:
    server = PodiumServer(tmp_path / "data")
    server.data_dir.mkdir()
    migrations.upgrade(f"sqlite:///{server.data_dir / 'podium.db'}")
    migrations.downgrade(f"sqlite:///{server.data_dir / 'podium.db'}", revision)

    done = run_podium(["verify"], env=server.environment, capture_output=True, text=True)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = " ".join(done.stderr.split())
    assert "older than this Podium" in told
    assert "podium db upgrade" in told
    assert not (server.data_dir / "verify.json").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM alembic_version", "its table alembic_version has no row"),
        ("INSERT INTO alembic_version VALUES ('0001')", "has 2 rows (0001, "),
        ("DROP TABLE alembic_version", "its table alembic_version has been removed"),
        ("UPDATE alembic_version SET version_num = '9999'", "9999"),
    ],
)
def test_a_database_of_which_no_schema_or_a_newer_one_is_known_is_not_used(
    tmp_path: Path, change: str, told: str
) -> None:
    server = PodiumServer(tmp_path / "data", migrates=True)
    server.data_dir.mkdir()
    migrations.upgrade(f"sqlite:///{server.data_dir / 'podium.db'}")
    with contextlib.closing(sqlite3.connect(server.data_dir / "podium.db")) as opened, opened:
        opened.execute(change)
    folder = tmp_path / "backup"

    for words in (["verify"], ["backup", str(folder)], ["serve", "--port", "0"], ["db", "upgrade"]):
        done = run_podium(words, env=server.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, words
        assert "Traceback" not in done.stderr
        assert told in " ".join(done.stderr.split()), words
    assert not folder.exists()


def test_a_check_that_could_not_be_made_prints_no_document(tmp_path: Path) -> None:
    away = {"PODIUM_DATABASE_URL": "postgresql://podium:x@127.0.0.1:1/podium"}
    done = run_podium(
        ["verify", "--json"],
        env={**os.environ, **away, "PODIUM_DATA_DIR": str(tmp_path / "data")},
        capture_output=True, text=True,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert "locked or away" in done.stderr
    assert not (tmp_path / "data").exists()
