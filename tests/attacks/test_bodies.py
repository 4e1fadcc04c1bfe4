"""A thousand JSON bodies at once: at most 300 MB over idle, by whomever they are sent."""

from __future__ import annotations

import functools
import gzip
import json

import httpx
import pyarrow as pa
import pytest

from tests.api.conftest import Podium, Run
from tests.attacks.sockets import Watch, connections, send_all, statuses
from tests.server import PodiumServer

COUNT = 1000
MOST_MB = 300
SETTINGS = {"graders": 1, "connections": 2000, "connections_per_address": 2000}
EMPTY_OBJECTS = b"[" + b"{}," * 87_379 + b"{}]"  # 262,141 bytes, thirty times as much when parsed
# A twelfth of it, to be parsed a thousand times: 0.6 MB each, so 600 MB if not in turn.
FEWER_OBJECTS = b"[" + b"{}," * 7_281 + b"{}]"


@pytest.fixture
def run(podium: Podium) -> Run:
    return podium.run(podium.competition(), feedback="full")


def request(target: str, body: bytes, key: str = "", kind: str = "application/json") -> bytes:
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"{target} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\n{authorization}"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def attack(server: PodiumServer, data: bytes, count: int = COUNT) -> tuple[list[int], Watch]:
    """Send all but the last byte on each connection, then the last bytes together."""
    with Watch(server) as watch, connections(server, count) as opened:
        send_all(opened, data[:-1], seconds=3.0)
        send_all(opened, data[-1:], seconds=3.0)
        answers = statuses(opened)
    return answers, watch


def test_bodies_of_strangers_are_not_read(server: PodiumServer) -> None:
    answers, watch = attack(server, request("POST /v1/runs", EMPTY_OBJECTS))

    assert answers == [401] * COUNT
    assert watch.grown < MOST_MB
    assert watch.failed == []


def test_a_thousand_silent_connections_take_little_memory(server: PodiumServer) -> None:
    with Watch(server) as watch, connections(server, COUNT) as opened:
        half = b"POST /v1/runs HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 60_000
        send_all(opened, half, seconds=5.0)
        found = httpx.get(f"{server.url}/readyz", trust_env=False, timeout=60)

    assert found.json()["connections"]["open"] >= COUNT
    assert watch.grown < MOST_MB
    assert watch.failed == []


def test_bodies_with_an_unknown_key_are_not_read(server: PodiumServer) -> None:
    data = request("POST /v1/runs", EMPTY_OBJECTS, "pod_run_" + "a" * 32)

    answers, watch = attack(server, data)

    assert answers == [401] * COUNT
    assert watch.grown < MOST_MB


def test_few_bodies_of_a_key_are_in_memory_at_once(
    server: PodiumServer, podium: Podium, run: Run
) -> None:
    target = f"PUT /v1/runs/{run.id}/selected"
    data = request(target, EMPTY_OBJECTS, run.document["key"])
    head, last = data[:-1], data[-1:]

    with Watch(server) as watch, connections(server, COUNT) as opened:
        send_all(opened, head, seconds=2.0)  # most of them wait for the server to read
        for _ in range(20):
            send_all(opened, last, seconds=0.1)
        own = podium.client(run.document["key"]).get(f"/v1/runs/{run.id}")

    assert own.status_code == 200
    assert watch.grown < MOST_MB
    assert watch.failed == []


def test_whole_bodies_of_a_key_are_worked_on_in_turn(server: PodiumServer, run: Run) -> None:
    data = request(f"PUT /v1/runs/{run.id}/selected", FEWER_OBJECTS, run.document["key"])

    with Watch(server) as watch, connections(server, COUNT) as opened:
        send_all(opened, data, seconds=60.0)
        answers = statuses(opened)

    assert answers == [422] * COUNT
    assert watch.grown < MOST_MB


def test_calls_of_kaggles_clients_take_little_memory(server: PodiumServer, run: Run) -> None:
    target = "POST /api/v1/competitions.CompetitionApiService/ListSubmissions"
    body = json.dumps({"competitionName": "x", "more": [{}] * 8_000}).encode()
    data = request(target, body[:31_000] + b"]}", run.document["key"])

    answers, watch = attack(server, data)

    assert answers == [404] * COUNT
    assert watch.grown < MOST_MB


def test_small_submissions_of_strangers_take_little_memory(server: PodiumServer) -> None:
    data = request("POST /v1/runs/run_x/submissions", b"a" * 262_000, kind="text/csv")

    answers, watch = attack(server, data)

    assert answers == [401] * COUNT
    assert watch.grown < MOST_MB


def test_an_agents_slow_bodies_delay_nobody_else(server: PodiumServer, podium: Podium) -> None:
    run = podium.run(podium.competition(), feedback="full")
    data = request(f"PUT /v1/runs/{run.id}/selected", EMPTY_OBJECTS, run.document["key"])

    with connections(server, 200) as opened:
        send_all(opened, data[:-1], seconds=1.0)
        made = podium.client(server.key).post("/v1/experiments", json={
            "name": "n" * 100, "agent": "a", "model": "m", "notes": "n" * 10_000,
        })  # fmt: skip

    assert made.status_code == 201, made.text


def test_a_refusal_tells_a_hundred_errors_at_most(podium: Podium, run: Run) -> None:
    body = {f"x{n}": 0 for n in range(20_000)}

    answer = run.client.put(f"/v1/runs/{run.id}/selected", json=body)

    assert answer.status_code == 422
    assert 0 < len(answer.json()["errors"]) <= 100
    assert len(answer.content) < 50_000


def test_a_forms_body_is_small_where_no_key_is_needed(server: PodiumServer) -> None:
    answer = httpx.post(f"{server.url}/login", data={"key": "a" * 40_000}, trust_env=False)

    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("kilobytes", "status"), [(15, 201), (17, 201), (33, 201), (255, 201), (257, 413)]
)
def test_the_first_body_of_a_new_key_may_be_as_large_as_any(
    podium: Podium, run: Run, kilobytes: int, status: int
) -> None:
    client = podium.client(podium.harness_key(run.document["experiment"]))
    body = json.dumps({
        "experiment": run.document["experiment"], "competition": run.document["competition"],
        "seed": kilobytes,
    })  # fmt: skip

    made = client.post(
        "/v1/runs", content=body + " " * 1024 * kilobytes,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip

    assert made.status_code == status, made.text


@pytest.mark.parametrize(("window_log", "status"), [(23, 200), (24, 400), (27, 400), (31, 400)])
def test_a_body_that_needs_much_memory_to_be_unpacked_is_refused(
    podium: Podium, run: Run, window_log: int, status: int
) -> None:
    """A few hundred bytes name a window of 2 GB, and a decoder takes 128 MB unless it is told."""
    response = run.validate(repeated_letter(window_log, 10), **{"Content-Encoding": "zstd"})

    assert response.status_code == status
    if status == 400:
        assert "window of more than 8 MB" in response.json()["detail"]
    else:
        assert response.json()["valid"] is False


@pytest.mark.parametrize(
    ("encoding", "part"),
    [
        ("gzip", gzip.compress(b"")),
        ("zstd", pa.compress(b"", codec="zstd", asbytes=True)),
        ("zstd", b"\x50\x2a\x4d\x18\0\0\0\0"),
    ],
    ids=["gzip", "zstd", "zstd that is skipped"],  # a gzip member has its time in it
)
def test_a_body_of_more_parts_than_anybody_makes_is_refused(
    run: Run, encoding: str, part: bytes
) -> None:
    """A gigabyte of empty parts would be unpacked for minutes, with the interpreter's lock."""
    packed = gzip.compress if encoding == "gzip" else functools.partial(pa.compress, codec="zstd")
    few, many = part * 1000 + bytes(packed(b"id\n")), part * 20_001

    accepted = run.validate(few, **{"Content-Encoding": encoding})
    refused = run.validate(many, **{"Content-Encoding": encoding})

    assert accepted.status_code == 200, accepted.text
    assert refused.status_code == 400
    assert "more than 20,000 parts" in refused.json()["detail"]


def repeated_letter(window_log: int, megabytes: int) -> bytes:
    """A frame of Zstandard (RFC 8878) whose blocks each repeat a letter 128 Ki times."""
    head = bytes([0x28, 0xB5, 0x2F, 0xFD, 0, (window_log - 10) << 3])
    count = 8 * megabytes
    blocks = [(128 * 1024) << 3 | 1 << 1 | (number == count - 1) for number in range(count)]
    return head + b"".join(block.to_bytes(3, "little") + b"a" for block in blocks)
