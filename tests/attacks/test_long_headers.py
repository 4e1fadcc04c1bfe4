"""Who sends a header with thousands of items takes no more time than who sends a single long one.

Such headers were parsed before a request had a turn: a flood kept the server busy.
"""

from __future__ import annotations

import http.client

import httpx
import psutil

from tests.server import NO_CERTIFICATES, PodiumServer


def seconds(server: PodiumServer, header: str, value: str) -> float:
    """The server's processor time for 200 requests with this header."""
    process = psutil.Process(server.process.pid)
    with httpx.Client(
        base_url=server.url, trust_env=False, verify=NO_CERTIFICATES, timeout=60
    ) as stranger:
        stranger.get("/healthz")
        begun = sum(process.cpu_times()[:2])
        for _ in range(200):
            stranger.get("/healthz", headers={header: value}).raise_for_status()
    return sum(process.cpu_times()[:2]) - begun


def test_thousands_of_cookies_take_no_longer_than_one_of_their_size(server: PodiumServer) -> None:
    one = seconds(server, "Cookie", "a" * 60_000)
    assert seconds(server, "Cookie", ";" * 60_000) < 2 * one + 0.1


def test_thousands_of_proxies_take_no_longer_than_one_name_of_their_size(
    server: PodiumServer,
) -> None:
    one = seconds(server, "X-Forwarded-For", "a" * 60_000)
    assert seconds(server, "X-Forwarded-For", "," * 60_000) < 2 * one + 0.1


def test_thousands_of_escapes_in_a_path_take_no_longer_than_letters(server: PodiumServer) -> None:
    process = psutil.Process(server.process.pid)

    def seconds_of(path: str) -> float:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        begun = sum(process.cpu_times()[:2])
        for _ in range(50):
            client.request("GET", path)
            answer = client.getresponse()
            answer.read()
            assert answer.status == 404
        client.close()
        return sum(process.cpu_times()[:2]) - begun

    one = seconds_of("/" + "a" * 60_000)
    assert seconds_of("/" + "%" * 60_000) < 2 * one + 0.2
