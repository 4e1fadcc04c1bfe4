"""Who sends one request after the other on a thousand connections stops nobody else."""

from __future__ import annotations

import itertools
import json
import signal

import httpx
import pytest

from tests.api.conftest import Podium
from tests.attacks.floods import AGENTS_FLOODS, FLOODS, Flood, agents_request
from tests.attacks.sockets import Watch, connections, send_all, statuses
from tests.server import NO_CERTIFICATES, PodiumServer

SETTINGS = {"graders": 1, "connections": 2000}  # 1,000 of one address
SECONDS = 6.0  # an answer takes about 0.1; it took more than 10


def answers_beside(server: PodiumServer, request: bytes, count: int) -> list[int]:
    """What somebody with a key is answered beside a flood, on a new connection for each request.

    Each answer has to come within SECONDS.
    """
    with server.client() as known:
        known.timeout = httpx.Timeout(SECONDS)
        known.headers["Connection"] = "close"
        assert known.get("/v1/runs").status_code == 200
        with Flood(server.port, request, count) as flood:
            assert flood.all_answered.wait(60)
            return [known.get("/v1/runs").status_code for _ in range(3)]


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_requests_keeps_no_valid_key_waiting(server: PodiumServer, kind: str) -> None:
    assert answers_beside(server, FLOODS[kind], 900) == [200] * 3


@pytest.mark.parametrize("kind", AGENTS_FLOODS)
def test_a_flood_with_a_runs_key_keeps_no_other_key_waiting(
    server: PodiumServer, podium: Podium, kind: str
) -> None:
    run = podium.run(podium.competition())
    run.client.get(f"/v1/runs/{run.id}").raise_for_status()  # the key is known now
    request = agents_request(kind, run.id, run.document["key"])

    assert answers_beside(server, request, 900) == [200] * 3


@pytest.mark.parametrize("kind", ["no key", "heads"])
def test_a_flood_on_all_connections_of_an_address_keeps_no_valid_key_out(
    server: PodiumServer, kind: str
) -> None:
    """Every connection had a request that waited, so each new one was closed."""
    assert answers_beside(server, FLOODS[kind], 1000) == [200] * 3


@pytest.mark.parametrize("kind", ["no key", "a run's key"])
def test_bodies_in_chunks_of_a_byte_keep_no_valid_key_waiting(
    server: PodiumServer, podium: Podium, kind: str
) -> None:
    """Each chunk costs as much as a large one, and those of waiting requests were parsed too."""
    run = podium.run(podium.competition())
    key = f"Authorization: Bearer {run.document['key']}\r\n" if kind == "a run's key" else ""
    head = f"POST /v1/runs/{run.id}/validate HTTP/1.1\r\nHost: x\r\n{key}"
    head += "Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n"
    request = head.encode() + 60_000 * b"1\r\nx\r\n" + b"0\r\n\r\n"
    with server.client() as known, connections(server, 900) as opened:
        known.timeout = httpx.Timeout(SECONDS)
        assert known.get("/v1/runs").status_code == 200
        send_all(opened, request, 2.0)

        assert [known.get("/v1/runs").status_code for _ in range(3)] == [200] * 3


def test_who_sends_line_by_line_reads_why_it_was_refused(server: PodiumServer) -> None:
    with server.client("pod_run_" + "a" * 32) as client:
        for _ in range(2):
            answer = client.post("/v1/experiments", content=(b"1,2\n" for _ in range(20_000)))
            assert answer.status_code == 401


def test_strangers_are_answered_in_turn(server: PodiumServer) -> None:
    with Flood(server.port, FLOODS["no key"], 500) as flood:
        assert flood.all_answered.wait(60)
        answer = httpx.get(f"{server.url}/healthz", timeout=30, verify=NO_CERTIFICATES)

    assert answer.status_code == 200


@pytest.mark.parametrize("mine", ["127.0.0.1", "127.0.0.3"], ids=["local", "elsewhere"])
@pytest.mark.parametrize("named", ["", "127.0.0.1", "127.0.0.3"])
def test_a_stranger_does_not_wait_for_all_of_a_flood_from_another_address(
    server: PodiumServer, mine: str, named: str
) -> None:
    """A log-in, a health check, the first request of a key; and whoever names their address."""
    request = FLOODS["no key"]
    if named:
        request = request.replace(b"Host: x", f"Host: x\r\nX-Forwarded-For: {named}".encode())
    transport = httpx.HTTPTransport(local_address=mine, verify=NO_CERTIFICATES)
    with (
        httpx.Client(base_url=server.url, transport=transport, timeout=30) as stranger,
        Flood(server.port, request, 900, source="127.0.0.2") as flood,
    ):
        assert flood.all_answered.wait(60)
        before = flood.answers
        assert stranger.get("/healthz").status_code == 200
        assert flood.answers - before < 450


def test_who_connects_behind_hundreds_is_answered_before_most_of_them(
    server: PodiumServer, podium: Podium
) -> None:
    """One connection was accepted for each request that was served. Here all come at once."""
    run = podium.run(podium.competition())
    theirs = f"GET /nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {run.document['key']}\r\n"
    mine = f"GET /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key}\r\n"
    run.client.get("/v1/runs").raise_for_status()  # both keys are known now
    podium.admin.get("/v1/runs").raise_for_status()
    server.process.send_signal(signal.SIGSTOP)
    try:
        with connections(server, 600) as them, connections(server, 1) as me:
            assert send_all(them, f"{theirs}X-Request-ID: theirs\r\n\r\n".encode()) == 600
            assert send_all(me, f"{mine}X-Request-ID: mine\r\n\r\n".encode()) == 1
            server.process.send_signal(signal.SIGCONT)
            assert statuses(them) == [404] * 600
            assert statuses(me) == [200]
    finally:
        server.process.send_signal(signal.SIGCONT)

    answered = [json.loads(line)["request_id"] for line in server.log.read_text().splitlines()]
    before = itertools.takewhile("mine".__ne__, answered)
    assert sum(one == "theirs" for one in before) < 400


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_requests_of_clients_that_have_gone_are_not_kept(server: PodiumServer, method: str) -> None:
    """Each keeps up to 64 KB of headers, and was counted among no connections any more."""
    head = f"{method} /v1/runs HTTP/1.1\r\nHost: x\r\nX-Long: {'a' * 60_000}\r\n\r\n".encode()
    with Watch(server) as watch:
        for _ in range(5):
            with connections(server, 900) as opened:
                assert send_all(opened, head) == 900

    assert watch.grown < 100
