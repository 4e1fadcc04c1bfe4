"""Signals: their cost beside grading, and how many of 500 honest submissions they mark."""

from __future__ import annotations

import os
import tarfile
import time
from collections import Counter
from io import BytesIO

import httpx

from app.bundled import bundled
from benchmarks.server import Server, running
from tests.system.honest import SLUG, honest_files

COUNT = 500
AGENTS = 5


def main() -> None:
    files = list(honest_files(COUNT))
    with (
        running() as server,
        httpx.Client(
            base_url=f"http://127.0.0.1:{server.port}",
            headers={"Authorization": f"Bearer {server.key}"},
            trust_env=False,
            timeout=60,
        ) as podium,
    ):
        send(podium, server, files)


def send(podium: httpx.Client, server: Server, files: list[bytes]) -> None:
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        packed.add(bundled("competitions") / SLUG, arcname=SLUG)
    podium.post("/v1/competitions", files={"archive": archive.getvalue()}).raise_for_status()
    for agent in range(AGENTS):
        body = {"name": f"agent-{agent}", "agent": f"agent {agent}", "model": "m"}
        podium.post("/v1/experiments", json=body).raise_for_status()
    before, reviewed = processor_seconds(server.pid), review(server)
    for number, body in enumerate(files):
        run = {"experiment": f"agent-{number % AGENTS}", "competition": SLUG, "seed": number}
        made = podium.post("/v1/runs", json=run).raise_for_status().json()
        podium.post(
            f"/v1/runs/{made['id']}/submissions",
            content=body,
            headers={"Prefer": "wait=30", "Content-Type": "text/csv"},
        ).raise_for_status()
    while review(server)[0] - reviewed[0] < len(files):
        time.sleep(0.1)
    total = processor_seconds(server.pid) - before
    own = review(server)[1] - reviewed[1]
    print(f"Reviews: {len(files)} honest submissions of {len(files[0]):,} bytes, {AGENTS} agents")
    print(
        f"  processor time: {1000 * total / len(files):.1f} ms a submission, "
        f"{1000 * own / len(files):.2f} ms of it signals ({100 * own / total:.1f} %)"
    )
    levels = Counter(
        one["level"] for one in podium.get("/v1/reviews", params={"limit": 1000}).json()["items"]
    )
    print(f"  runs with signals: {levels['annotate']} annotate, {levels['review']} review")


def review(server: Server) -> tuple[float, float]:
    """The submissions whose signals were computed, and the processor time of it."""
    lines = dict(
        line.rsplit(" ", 1)
        for line in server.get("/metrics").text.splitlines()
        if line.startswith("podium_review")
    )
    return (
        float(lines["podium_reviewed_submissions_total"]),
        float(lines["podium_review_processor_seconds_total"]),
    )


def processor_seconds(pid: int) -> float:
    """The processor time of a process and of all processes below it, those that ended too."""
    ticks = 0
    for each in [pid, *below(pid)]:
        try:
            with open(f"/proc/{each}/stat", encoding="ascii") as file:  # noqa: PTH123
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def below(pid: int) -> list[int]:
    """The ids of all processes below one."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:  # noqa: PTH123
            children = [int(each) for each in file.read().split()]
    except OSError:
        return []
    return [one for child in children for one in (child, *below(child))]
