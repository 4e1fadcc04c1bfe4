"""Who sends thousands of cookies takes no more of the server's time than who sends one."""

from __future__ import annotations

import httpx
import psutil

from tests.server import NO_CERTIFICATES, PodiumServer


def test_thousands_of_cookies_take_no_longer_than_one_of_their_size(server: PodiumServer) -> None:
    """All were parsed before a request had a turn, and again: a flood kept the server busy."""
    process = psutil.Process(server.process.pid)

    def seconds(cookies: str) -> float:
        with httpx.Client(
            base_url=server.url, trust_env=False, verify=NO_CERTIFICATES, timeout=60
        ) as stranger:
            stranger.get("/healthz")
            begun = sum(process.cpu_times()[:2])
            for _ in range(100):
                stranger.get("/healthz", headers={"Cookie": cookies}).raise_for_status()
        return sum(process.cpu_times()[:2]) - begun

    assert seconds(";" * 60_000) < 4 * seconds("a" * 60_000) + 0.1
