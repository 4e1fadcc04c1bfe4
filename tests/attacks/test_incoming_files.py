"""Files that are being sent: they count before they are whole, and leave part of the disk."""

from __future__ import annotations

import contextlib
import gzip
import os
import socket
import threading
import time
from pathlib import Path

import httpx
import psutil

from app.units import MEGABYTE
from tests.api.conftest import CSV, Podium, Run
from tests.attacks.sockets import connections, is_closed, send_all
from tests.factories import good_submission
from tests.graders.conftest import wait_until
from tests.server import PodiumServer
from tests.storage.disks import small_disk

IDLE = 1.0
SETTINGS = {"run_stored_mb": 4, "max_upload_mb": 64, "idle_seconds": IDLE}
RUN_UPLOADS = 4


def head_of(run: Run, path: str, size: int, more: str = "") -> bytes:
    return (
        f"POST /v1/runs/{run.id}/{path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n{more}"
        f"Authorization: Bearer {run.document['key']}\r\nContent-Length: {size}\r\n\r\n"
    ).encode()


def spooled(server: PodiumServer) -> list[int]:
    """The sizes of the unfinished files of the server."""
    sizes = []
    places = [server.data_dir / "blobs", server.data_dir / "tmp"]
    for file in psutil.Process(server.process.pid).open_files():
        if any(Path(file.path).is_relative_to(place) for place in places):
            with contextlib.suppress(OSError):
                sizes.append(Path(f"/proc/{server.process.pid}/fd/{file.fd}").stat().st_size)
    return sizes


def test_incoming_bytes_count_for_a_run(server: PodiumServer, podium: Podium) -> None:
    folder = podium.competition()
    run = podium.run(folder, feedback="full")
    half = b"id,target\n" + b"r1,000001\n" * 250_000  # 2.5 MB, of 4 MB for the run
    with connections(server, 2) as opened:
        send_all(opened[:1], head_of(run, "submissions", 20 * MEGABYTE) + half)
        time.sleep(0.2)
        send_all(opened[1:], head_of(run, "submissions", 20 * MEGABYTE) + half)
        opened[1].settimeout(10)
        answer = opened[1].recv(65536)
    until = time.monotonic() + 10
    while True:  # until the server has seen that the first one went away
        after = run.submit(half[: 3 * MEGABYTE])
        if after.status_code != 429 or time.monotonic() > until:
            break
        time.sleep(0.2)

    assert answer.startswith(b"HTTP/1.1 429 ")
    assert after.status_code == 201


def test_uploads_of_kaggles_clients_count_for_a_run_while_they_come(
    server: PodiumServer, podium: Podium
) -> None:
    folder = podium.competition()
    run, size = podium.run(folder, feedback="full"), 5 * MEGABYTE // 2  # of 4 MB for the run
    call = "/api/v1/competitions.CompetitionApiService/StartSubmissionUpload"
    body = {"competitionName": folder.name, "fileName": "s.csv", "contentLength": size}
    first, second = (run.client.post(call, json=body).json()["createUrl"] for _ in range(2))
    head = f"PUT {httpx.URL(first).path} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n"
    with connections(server, 1) as opened:
        send_all(opened, head.encode() + b"a" * MEGABYTE)
        wait_until(lambda: spooled(server) != [], 10)
        refused = httpx.put(second, content=b"a" * size, trust_env=False)

    assert refused.status_code == 429
    assert "PODIUM_RUN_STORED_MB" in refused.json()["message"]


def test_a_run_sends_few_files_at_once(server: PodiumServer, podium: Podium) -> None:
    folder = podium.competition()
    run, other = podium.run(folder, feedback="full"), podium.run(folder, feedback="full")
    data = head_of(run, "validate", 400_000) + b"a" * 300_000
    ended = threading.Event()

    def trickle(opened: list[socket.socket]) -> None:
        while not ended.wait(0.2):
            send_all(opened, b"a" * 400, seconds=0.1)

    with connections(server, 24) as opened:
        send_all(opened, data, seconds=2.0)
        trickling = threading.Thread(target=trickle, args=(opened,))
        trickling.start()
        wait_until(lambda: len(spooled(server)) >= RUN_UPLOADS, 10)
        time.sleep(0.5)  # for more, if there were more
        open_files = sum(size > 1000 for size in spooled(server))
        found = other.validate(good_submission(folder))
        ended.set()
        trickling.join()

    assert open_files == RUN_UPLOADS
    assert found.status_code == 200
    assert found.json()["valid"]


def test_a_body_that_trickles_ends(server: PodiumServer, podium: Podium) -> None:
    run = podium.run(podium.competition(), feedback="full")
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(head_of(run, "submissions", MEGABYTE))
        started, is_over = time.monotonic(), False
        while not is_over and time.monotonic() - started < 20:
            with contextlib.suppress(OSError):
                client.sendall(b"a")
            is_over = is_closed(client, 0.3)
        took = time.monotonic() - started

    assert is_over
    assert took > 2 * IDLE


def test_unpacking_delays_nobody_elses_small_file(server: PodiumServer, podium: Podium) -> None:
    folder = podium.competition()
    attacker, other = podium.run(folder, feedback="full"), podium.run(folder, feedback="full")
    size = 32 * MEGABYTE
    packed = gzip.compress(b"a" * size, 1)
    headers = {**CSV, "Content-Encoding": "gzip"}

    def send() -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
            key = {"Authorization": f"Bearer {attacker.document['key']}"}
            client.post(
                f"/v1/runs/{attacker.id}/validate", content=packed, headers={**headers, **key}
            )

    sending = [threading.Thread(target=send) for _ in range(12)]
    for each in sending:
        each.start()
    time.sleep(0.2)
    most = 0
    codes = []
    while any(each.is_alive() for each in sending):
        codes.append(other.submit(good_submission(folder)).status_code)
        most = max(most, sum(spooled(server)))
        time.sleep(0.3)
    for each in sending:
        each.join()

    assert set(codes) == {201}
    assert 0 < most < 2 * RUN_UPLOADS * size < 12 * size


def test_bodies_lie_in_the_data_directory_and_leave_its_reserve(tmp_path: Path) -> None:
    nowhere = tmp_path / "no-directory-for-temporary-files"
    with small_disk(tmp_path / "disk", 200 * 1024) as disk, contextlib.ExitStack() as clients:
        server = PodiumServer(disk / "data", graders=1, disk_reserve_percent=50)
        server.environment["TMPDIR"] = str(nowhere)
        server.start()
        clients.callback(server.stop)
        podium = Podium(server, tmp_path / "folders", clients)
        folder = podium.competition()
        run = podium.run(folder, feedback="full")
        packed = gzip.compress(good_submission(folder))
        headers = {"Content-Encoding": "gzip"}
        form = {"file": ("submission.csv", good_submission(folder), "text/csv")}
        path = f"/v1/runs/{run.id}/submissions"
        before = [run.submit(packed, **headers), run.client.post(path, files=form)]
        key = {"Idempotency-Key": "sent-before"}
        first = run.submit(good_submission(folder), **key)
        with (disk / "ballast").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 110 * MEGABYTE)
        refused = [run.submit(packed, **headers), run.client.post(path, files=form)]
        again = run.submit(good_submission(folder), **key)
        refused.append(run.submit(good_submission(folder), **{"Idempotency-Key": "new"}))

    assert [answer.status_code for answer in before] == [201, 202]
    assert [answer.status_code for answer in refused] == [507] * 3
    # It is stored already, so that it needs no space.
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
