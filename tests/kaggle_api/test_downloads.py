"""Downloads that are cut and resumed, and kagglehub."""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import socket
import threading
import time
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.kaggle_api.agent import basic, told
from tests.kaggle_api.conftest import NEW, OLD

RPC = "/api/v1/competitions.CompetitionApiService"
HUB = "kagglehub-1.0.3"
TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 45\r\nConnection: close\r\n\r\n"
    b'{"code": 429, "message": "Too many at once."}'
)


@pytest.fixture
def large(podium):
    """A competition with a file that takes several pieces."""
    folder = podium.folder()
    data = random.Random(1).randbytes(5_000_000)
    (folder / "public" / "large.bin").write_bytes(data)
    assert podium.send_folder(folder).status_code == 201
    return folder


class CutOnce:
    """A proxy before the server that cuts the first long answer after some bytes."""

    def __init__(
        self, port: int, after: int = 2_500_000, pause: float = 0.0, *, stalls: bool = False
    ) -> None:
        self.cuts = self.ranges = 0
        self.refusals = 0  # so many downloads of everything are answered 429
        self.pause = pause  # seconds before each piece of an answer
        self._port, self._after = port, after
        self._stalls = stalls  # it goes silent instead of cutting, for a minute
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(server, client), daemon=True).start()

    def _up(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.ranges += b"\r\nRange: bytes=" in data
                if self.refusals and b"/DownloadDataFiles" in data:
                    self.refusals -= 1
                    source.sendall(TOO_MANY)
                    target.shutdown(socket.SHUT_RDWR)  # whereupon the other thread ends both
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def _down(self, source: socket.socket, target: socket.socket) -> None:
        passed = 0
        try:
            while data := source.recv(65536):
                time.sleep(self.pause)
                target.sendall(data)
                passed += len(data)
                if passed > self._after and not self.cuts:
                    self.cuts += 1
                    if self._stalls:
                        time.sleep(60)
                    break
        except OSError:
            pass
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def cutting(podium):
    proxy = CutOnce(podium.server.port)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("client", [NEW, OLD])
def test_a_cut_download_goes_on_where_it_was(podium, large, make_agent, cutting, client):
    agent = make_agent(podium.run(large).document["key"], client, proxy=cutting.url)

    ran = agent.kaggle("download", large.name, "-f", "large.bin")

    assert ran.returncode == 0, told(ran)
    assert cutting.cuts == 1
    assert "Resuming from" in told(ran)
    expected = (large / "public" / "large.bin").read_bytes()
    assert (agent.home / "large.bin").read_bytes() == expected


def test_the_archive_has_the_same_bytes_for_everybody(podium, large):
    sums, headers = set(), []
    for _ in range(2):
        run = podium.run(large)
        lead = run.client.post(f"{RPC}/DownloadDataFiles", json={"competitionName": large.name})
        assert lead.status_code == 302
        found = httpx.get(lead.headers["Location"], trust_env=False)
        sums.add(hashlib.sha256(found.content).hexdigest())
        headers.append(found.headers)

    with zipfile.ZipFile(io.BytesIO(found.content)) as archive:
        assert {one.external_attr >> 16 for one in archive.infolist()} == {0o644}
    assert len(sums) == 1
    assert headers[0]["ETag"] == headers[1]["ETag"]
    assert headers[0]["Last-Modified"] == headers[1]["Last-Modified"]
    assert headers[0]["Accept-Ranges"] == "bytes"
    known = {"If-None-Match": headers[0]["ETag"]}
    again = httpx.get(lead.headers["Location"], headers=known, trust_env=False)
    assert again.status_code == 304
    for one in (*headers, again.headers):  # no cache serves it after the key of its address ended
        assert one["Cache-Control"] == "private, no-cache"
    assert "Content-Encoding" not in headers[0]


def test_an_address_resumes_without_a_key_and_only_the_same_file(podium, large):
    run = podium.run(large)
    body = {"competitionName": large.name, "fileName": "large.bin"}
    address = run.client.post(f"{RPC}/DownloadDataFile", json=body).headers["Location"]
    data = (large / "public" / "large.bin").read_bytes()

    whole = httpx.get(address, trust_env=False)
    part = httpx.get(
        address, headers={"Range": "bytes=100-", "If-Range": whole.headers["ETag"]}, trust_env=False
    )
    stale = httpx.get(
        address, headers={"Range": "bytes=100-", "If-Range": '"other"'}, trust_env=False
    )
    beyond = httpx.get(address, headers={"Range": "bytes=9999999-"}, trust_env=False)
    known = httpx.get(address, headers={"If-None-Match": whole.headers["ETag"]}, trust_env=False)
    # No cache gives the file when the address has ended.
    assert whole.headers["Cache-Control"] == known.headers["Cache-Control"] == "private, no-cache"
    since = {"If-Modified-Since": whole.headers["Last-Modified"]}
    before = {"If-Modified-Since": "Mon, 01 Jan 2001 00:00:00 GMT"}
    unchanged, changed, no_date, other = (
        httpx.get(address, headers=headers, trust_env=False).status_code
        for headers in (
            since,
            before,
            {"If-Modified-Since": "soon"},
            {**since, "If-None-Match": '"other"'},
        )
    )

    assert address.endswith("/large.bin")
    assert (part.status_code, part.content) == (206, data[100:])
    assert (stale.status_code, stale.content) == (200, data)
    assert (beyond.status_code, known.status_code) == (416, 304)
    assert (unchanged, changed, no_date, other) == (304, 200, 200, 200)
    assert beyond.headers["Content-Range"] == f"bytes */{len(data)}"
    assert set(beyond.json()) == {"code", "message"}
    for broken in ("bytes=abc", "bytes=9-1", "lines=1-2", "bytes="):
        ignored = httpx.get(address, headers={"Range": broken}, trust_env=False)
        assert (ignored.status_code, ignored.content) == (200, data), broken
    head = httpx.head(address, trust_env=False)
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(data)))


@pytest.mark.parametrize("path", ["download-all/{}", "download/{}/train.csv"])
def test_a_head_of_an_old_address_is_redirected_as_a_get(podium, large, path):
    client = podium.run(large).client
    address = f"/api/v1/competitions/data/{path.format(large.name)}"

    answers = [client.request(method, address) for method in ("HEAD", "GET")]

    assert [one.status_code for one in answers] == [302, 302]
    assert answers[0].content == b""
    assert client.head(answers[0].headers["Location"]).status_code == 200


def test_kagglehub_downloads_all_and_one(podium, large, make_agent):
    agent = make_agent(podium.run(large).document["key"], HUB)

    ran = agent.python(f"""
import os, kagglehub
folder = kagglehub.competition_download("{large.name}")
print(sorted(os.listdir(folder)))
print(open(kagglehub.competition_download("{large.name}", "train.csv")).read())
print(kagglehub.whoami())
""")

    assert ran.returncode == 0, told(ran)
    assert "['large.bin', 'sample_submission.csv', 'train.csv']" in ran.stdout
    assert "id,feature,target" in ran.stdout
    assert "run_" in ran.stdout


def test_kagglehub_resumes_what_was_cut(podium, large, make_agent, cutting):
    agent = make_agent(podium.run(large).document["key"], HUB, basic, proxy=cutting.url)
    lines = f'import kagglehub; print(kagglehub.competition_download("{large.name}", "large.bin"))'

    first, again = agent.python(lines), agent.python(lines)

    assert (first.returncode, again.returncode) == (1, 0), told(again)
    place = again.stdout.strip().splitlines()[-1]
    assert Path(place).read_bytes() == (large / "public" / "large.bin").read_bytes()
