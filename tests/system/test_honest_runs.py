"""Honest agents get no signal that asks for a review. `benchmarks reviews` sends 500 of them."""

from __future__ import annotations

import time
from pathlib import Path

import httpx

from app.bundled import bundled
from tests.api.conftest import packed
from tests.server import PodiumServer
from tests.system.honest import SLUG, honest_files

COUNT = 60
SECONDS = 60


def test_honest_submissions_get_no_signal_that_asks_for_a_review(tmp_path: Path) -> None:
    server = PodiumServer(tmp_path / "data").start()
    bearer = {"Authorization": f"Bearer {server.key}"}
    with httpx.Client(base_url=server.url, headers=bearer, trust_env=False, timeout=60) as podium:
        folder = bundled("competitions") / SLUG
        archive = {"archive": (f"{SLUG}.tar.gz", packed(folder), "application/gzip")}
        assert podium.post("/v1/competitions", files=archive).status_code == 201
        for agent in range(3):
            body = {"name": f"agent-{agent}", "agent": f"agent {agent}", "model": "m"}
            assert podium.post("/v1/experiments", json=body).status_code == 201
        for number, file in enumerate(honest_files(COUNT)):
            run = {"experiment": f"agent-{number % 3}", "competition": SLUG, "seed": number}
            made = podium.post("/v1/runs", json=run).json()
            sent = podium.post(
                f"/v1/runs/{made['id']}/submissions",
                content=file,
                headers={"Prefer": "wait=30", "Content-Type": "text/csv"},
            )
            assert sent.json()["state"] == "graded", sent.text
        until = time.monotonic() + SECONDS
        while reviewed(podium) < COUNT and time.monotonic() < until:
            time.sleep(0.1)
        assert reviewed(podium) == COUNT
        found = podium.get("/v1/reviews", params={"limit": 1000, "state": "all"}).json()["items"]
    assert server.stop() == 0

    assert [one for one in found if one["level"] != "annotate"] == []
    assert found  # some are as good as the gold line within minutes, and that is remarked


def reviewed(podium: httpx.Client) -> float:
    lines = podium.get("/metrics").text.splitlines()
    (line,) = [one for one in lines if one.startswith("podium_reviewed_submissions_total ")]
    return float(line.split()[1])
