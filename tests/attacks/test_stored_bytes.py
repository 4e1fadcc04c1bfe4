"""Bytes on the disk: what a run may store, what uploads leave free, and what nobody needs."""

from __future__ import annotations

import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.errors import DiskReserved
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.small_files import SmallFiles
from tests.api.conftest import CSV, Podium, Run
from tests.factories import good_submission
from tests.forkserver import run_podium
from tests.graders.conftest import wait_until
from tests.s3 import S3Server, wait_for_listings
from tests.server import PodiumServer
from tests.storage.disks import fill, small_disk
from tests.storage.small_bodies import put_all

LARGE = 400 * 1024
DAY = 24 * 3600
SIZES = pytest.mark.parametrize("size", [1000, LARGE])
SETTINGS = {"run_stored_mb": 1}


def send(run: Run, body: bytes, **headers: str) -> httpx.Response:
    return run.client.post(
        f"/v1/runs/{run.id}/submissions", content=body, headers={**CSV, **headers}
    )


def file_of(number: int, size: int) -> bytes:
    line = f"r1,{number:06}\n".encode()
    return b"id,target\n" + line * (size // len(line))


def plant(server: PodiumServer, body: bytes, age: float = 2 * DAY) -> Path:
    """A blob that no row names, and that is old."""
    sha256 = hashlib.sha256(body).hexdigest()
    path = server.data_dir / "blobs" / sha256[:2] / sha256[2:]
    partial = path.with_name(f"{path.name}.{time.monotonic_ns()}")
    partial.write_bytes(body)
    grow_old(partial, age)
    partial.rename(path)
    return path


def grow_old(path: Path, age: float = 2 * DAY) -> None:
    os.utime(path, (time.time() - age, time.time() - age))


def gc(server: PodiumServer, *options: str) -> dict[str, Any]:
    done = run_podium(
        ["gc", "--json", *options],
        env=server.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def paths(found: dict[str, Any]) -> set[str]:
    return {one["path"] for one in found["files"]}


@SIZES
def test_a_run_may_store_so_many_bytes(podium: Podium, size: int) -> None:
    run, other = podium.run(podium.competition()), podium.run(podium.competition())
    fitting = 1024 * 1024 // len(file_of(0, size))
    extra = 2
    numbers = range(fitting + extra) if size == LARGE else range(3)
    if size != LARGE:  # fill it with large ones
        for number in range(2):
            assert send(run, file_of(number, LARGE)).status_code == 202
        rest = 1024 * 1024 - 2 * len(file_of(0, LARGE)) - 20
        assert send(run, file_of(7, rest)).status_code == 202

    key = {"Idempotency-Key": "the-first"}
    answers = [send(run, file_of(100 + n, size), **(key if not n else {})) for n in numbers]

    statuses = [answer.status_code for answer in answers]
    if size == LARGE:
        assert statuses == [202] * fitting + [429] * extra
        assert send(run, file_of(100, size), **key).status_code == 200  # it is stored already
    else:
        assert set(statuses[-1:]) == {429}
    assert "PODIUM_RUN_STORED_MB" in answers[-1].json()["detail"]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert send(other, file_of(1, size)).status_code == 202
    start = {"competitionName": run.document["competition"], "fileName": "s.csv",
             "contentLength": LARGE}  # fmt: skip
    kaggle = run.client.post(
        "/api/v1/competitions.CompetitionApiService/StartSubmissionUpload", json=start
    )
    assert kaggle.status_code == 429


def test_gc_removes_what_no_row_names(podium: Podium) -> None:
    server = podium.server
    folder = podium.competition()
    run = podium.run(folder)
    sent = send(run, good_submission(folder)).json()
    blobs = server.data_dir / "blobs"
    for path in [*blobs.glob("??/*"), *server.data_dir.glob("competitions/*/*")]:
        grow_old(path)
    orphan, young = plant(server, b"nobody's"), plant(server, b"nobody's yet", age=60)
    staged = blobs / "held" / "ab12"
    staged.write_bytes(b"x")
    version = server.data_dir / "competitions" / folder.name / ("0" * 32)
    (version / "private").mkdir(parents=True)
    (version / "private/answers.csv").write_text("id,target\n")
    for path in (staged, version):
        grow_old(path)
    expected = {str(orphan), str(staged), str(version)}

    listed = gc(server)
    assert paths(listed) == expected
    assert all(Path(path).exists() for path in expected)
    removed = gc(server, "--delete")

    assert paths(removed) == expected
    assert not any(Path(path).exists() for path in expected)
    assert young.exists()
    assert paths(gc(server, "--older-than", "1")) == set()
    assert run.client.get(f"/v1/submissions/{sent['id']}/file").content == good_submission(folder)
    server.stop()
    server.start()
    assert run.submit(good_submission(folder, shift=0.1)).json()["state"] == "graded"


def test_gc_loses_nothing_that_is_uploaded_meanwhile(podium: Podium) -> None:
    """The same bytes lie in the store, old and nobody's, while they are uploaded and removed."""
    server = podium.server
    folder = podium.competition()
    runs = [podium.run(folder) for _ in range(6)]
    loop = (
        "import sys\n"
        "from app.services.operations.collect_garbage import remove, unreferenced\n"
        "from app.settings import Settings\n"
        "settings, count = Settings(), 0\n"
        "print(count, flush=True)\n"
        "while count < 2000:\n"
        "    try:\n"
        "        found = unreferenced(settings, age_hours=24)\n"
        "        count += len(remove(settings, found, age_hours=24))\n"
        "        print(count, flush=True)\n"
        "    except BrokenPipeError:\n"
        "        break\n"
    )
    collector = subprocess.Popen(
        [sys.executable, "-c", loop], env=server.environment, stdout=subprocess.PIPE, text=True
    )
    assert collector.stdout is not None
    counts = [collector.stdout.readline()]
    assert counts == ["0\n"]
    reader = threading.Thread(target=lambda: counts.extend(collector.stdout or []))
    reader.start()

    def upload(agent: int) -> list[tuple[str, bytes]]:
        kept = []
        for batch in range(16):
            if batch >= 3 and int(counts[-1]) > 10:
                break  # enough were removed before their bytes came again
            bodies = [
                file_of(1000 * agent + 6 * batch + one, LARGE // 4 if is_large else 3000)
                for one in range(6)
                for is_large in [batch < 3 and one % 3 == 0]
            ]
            # All six first: the last of them lie there longer than the collector takes to look,
            # however fast files are taken in.
            for body in bodies:
                plant(server, body)
            for body in bodies:
                kept.append((send(runs[agent], body).json()["id"], body))
        return kept

    try:
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as together:
            kept = [one for each in together.map(upload, range(len(runs))) for one in each]
        planted = plant(server, b"the last one")
        wait_until(lambda: not planted.exists(), seconds=60)
    finally:
        collector.kill()
        collector.wait()
        reader.join()
        collector.stdout.close()

    assert int(counts[-1]) > 10
    lost = [
        sent for sent, body in kept
        if podium.admin.get(f"/v1/submissions/{sent}/file").content != body
    ]  # fmt: skip
    assert lost == []


def test_a_server_sweeps_and_says_so(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data", graders=1, gc_hours=1 / 3600)
    server.start()
    try:
        orphan = plant(server, b"nobody's")
        while orphan.exists():
            time.sleep(0.05)
        time.sleep(0.2)
        with server.client() as admin:
            text = admin.get("/metrics").text
    finally:
        server.stop()
    assert 'podium_gc_removed_files_total{kind="blob"} 1.0' in text
    assert 'podium_gc_removed_bytes_total{kind="blob"} 8.0' in text
    assert "podium_gc_last_timestamp_seconds 1" in text


def test_another_database_removes_nothing(podium: Podium, tmp_path: Path) -> None:
    orphan = plant(podium.server, b"of another")
    environment = {
        **podium.server.environment,
        "PODIUM_BLOBS_URL": (podium.server.data_dir / "blobs").as_uri(),
        "PODIUM_DATA_DIR": str(tmp_path / "other"),
    }
    for command in (["db", "upgrade"], ["gc", "--delete"]):
        done = run_podium(
            command,
            env=environment, capture_output=True, text=True,
        )  # fmt: skip

    assert done.returncode == 1
    assert "belong to another database" in " ".join(done.stderr.split())
    assert orphan.exists()


def test_gc_and_its_owner_in_an_s3_store(tmp_path: Path, s3: S3Server) -> None:
    bucket = s3.bucket()
    server = PodiumServer(tmp_path / "data", graders=1, blobs_url=f"s3://{bucket}/p")
    server.environment |= s3.environment
    with contextlib.ExitStack() as clients:
        server.start()
        clients.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run = podium.run(folder, feedback="full")
        sent = run.submit(good_submission(folder)).json()
        sha256 = hashlib.sha256(b"nobody's").hexdigest()
        orphan = s3.root / bucket / "p" / sha256[:2] / sha256[2:]
        orphan.parent.mkdir(exist_ok=True)
        orphan.write_bytes(b"nobody's")
        for path in s3.objects(bucket):
            grow_old(path)
        wait_for_listings()
        expected = {f"s3://{bucket}/p/{sha256[:2]}/{sha256[2:]}"}

        assert paths(gc(server)) == expected
        assert orphan.exists()
        other = {**server.environment, "PODIUM_DATA_DIR": str(tmp_path / "other")}
        for command in (["db", "upgrade"], ["gc", "--delete"]):
            done = run_podium(command, env=other, capture_output=True, text=True)
        assert done.returncode == 1
        assert "belong to another database" in " ".join(done.stderr.split())
        assert orphan.exists()
        assert paths(gc(server, "--delete")) == expected
        assert not orphan.exists()
        assert paths(gc(server)) == set()
        file = run.client.get(f"/v1/submissions/{sent['id']}/file")
        assert file.content == good_submission(folder)


def test_a_server_with_another_prefix_is_refused(tmp_path: Path, s3: S3Server) -> None:
    bucket = s3.bucket()
    server = PodiumServer(tmp_path / "data", graders=1, blobs_url=f"s3://{bucket}/p")
    server.environment |= s3.environment
    server.start()
    server.stop()
    elsewhere = {**server.environment, "PODIUM_BLOBS_URL": f"s3://{bucket}/q"}

    done = run_podium(
        ["serve", "--port", str(server.port)], env=elsewhere, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip

    assert done.returncode == 1
    assert f"stores files in s3://{bucket}/q" in " ".join(done.stderr.split())
    server.start()
    assert server.stop() == 0


def test_uploads_leave_a_part_of_the_disk_free(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4096) as disk:
        store = DiskBlobs(disk / "blobs", 25.0)
        small = SmallFiles(store)
        store.put(b"a" * 100_000)
        put_all(small, [b"b" * 1000])
        ballast = fill(disk)
        os.truncate(ballast, ballast.stat().st_size - 900 * 1024)  # less than a quarter is free

        for attempt in (lambda: store.put(b"c"), lambda: put_all(small, [b"d"]), store.new_upload):
            with pytest.raises(DiskReserved, match="PODIUM_DISK_RESERVE_PERCENT"):
                attempt()
        os.truncate(ballast, ballast.stat().st_size - 400 * 1024)
        store.put(b"c")
        assert len(put_all(small, [b"d"])) == 1
        small.close()


def test_only_who_reads_results_is_told_whose_disk_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64 * 1024) as disk, contextlib.ExitStack() as clients:
        server = PodiumServer(disk / "data", graders=1, disk_reserve_percent=0).start()
        clients.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", clients)
        folder, other = podium.competition(), podium.folder()
        (other / "public" / "noise.bin").write_bytes(os.urandom(2 << 20))
        run = podium.run(folder)
        form = {"file": ("s.csv", good_submission(folder) + b"\n" * (2 << 20))}
        ballast = fill(disk)
        os.truncate(ballast, ballast.stat().st_size - 256 * 1024)  # for the database
        told_to_agent = run.client.post("/validate", files=form)
        told_to_admin = podium.send_folder(other)
        ballast.unlink()
        after = podium.send_folder(other)

    assert [told_to_agent.status_code, told_to_admin.status_code] == [507] * 2
    assert told_to_agent.json()["detail"] == "A disk of this Podium is full; nothing was stored."
    assert "The disk of PODIUM_DATA_DIR is full" in told_to_admin.json()["detail"]
    assert after.status_code == 201


def test_a_nearly_full_disk_refuses_uploads_and_goes_on(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 200 * 1024) as disk, contextlib.ExitStack() as clients:
        server = PodiumServer(disk / "data", graders=1, disk_reserve_percent=50).start()
        clients.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run = podium.run(folder, feedback="full")
        first = run.submit(good_submission(folder)).json()
        with (disk / "ballast").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 110 * 1024 * 1024)

        refused = [
            send(run, good_submission(folder, shift=0.1)),
            send(run, file_of(1, LARGE)),
            run.validate(file_of(1, LARGE)),
            podium.send_folder(podium.folder()),
        ]
        page = run.client.get(refused[0].json()["type"])
        other = podium.run(folder)  # the database still writes
        shown = run.client.get(f"/v1/submissions/{first['id']}").json()
        (disk / "ballast").unlink()
        after = run.submit(good_submission(folder, shift=0.1))

    assert [answer.status_code for answer in refused] == [507] * 4
    assert {answer.json()["type"] for answer in refused} == {"/problems/disk-reserved"}
    *told_to_agents, told_to_admin = [answer.json()["detail"] for answer in refused]
    for told in told_to_agents:  # nothing of the machine
        assert "is nearly full" in told
        assert not re.search(r"[0-9/]|PODIUM", told)
    assert f"The disk of {disk}/data has 0.09 GB left" in told_to_admin
    assert "podium gc" in page.text
    assert (other.document["state"], shown["state"]) == ("open", "graded")
    assert after.json()["state"] == "graded"
