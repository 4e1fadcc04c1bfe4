"""HTTP: durable submissions a second at 32 clients, and the latency of one that waits, alone.

A machine with other work stores fewer a second; the server's processor time changes less.

`python -m benchmarks http [DIR]` measures the server of another checkout too, in turns.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from statistics import median, quantiles

import psutil

from benchmarks.load import send_many
from benchmarks.server import Server, running

CLIENTS = 32
SUBMISSIONS = 4000
ALONE = 300
ROUNDS = 3


def main(*other: str) -> None:
    trees = [Path(directory).absolute() for directory in other] + [None]
    with contextlib.ExitStack() as stack:
        servers = {str(tree or "this"): stack.enter_context(running(tree)) for tree in trees}
        size = len(next(iter(servers.values())).body)
        print(f"HTTP: a file of {size:,} bytes; SQLite, every answer after fsync")
        for server in servers.values():
            send_many(server, 300, 4, "Prefer: wait=30\r\n")  # warm
        for measure in (*[under_load] * ROUNDS, *[alone] * ROUNDS):
            for name, server in servers.items():
                print(f"  {name}:" if other else "", end="")
                measure(server)


def under_load(server: Server) -> None:
    process = psutil.Process(server.pid)
    started, before = time.perf_counter(), sum(process.cpu_times()[:2])
    answers = send_many(server, SUBMISSIONS, CLIENTS)
    sending = time.perf_counter() - started
    wait_until_settled(server)
    settling, after = time.perf_counter() - started, sum(process.cpu_times()[:2])
    stored = {a.submission for a in answers if a.status in (201, 202)}
    milliseconds = [1000 * a.seconds for a in answers]
    p99 = quantiles(milliseconds, n=100)[98]
    print(
        f"  {CLIENTS} clients: {len(stored) / sending:7.0f} stored/s, "
        f"{len(stored) / settling:7.0f} graded/s, median {median(milliseconds):.1f} ms, "
        f"p99 {p99:.1f} ms, lost {SUBMISSIONS - len(stored)}, "
        f"{1000 * (after - before) / SUBMISSIONS:.2f} ms of the server's processor time each"
    )


def alone(server: Server) -> None:
    answers = send_many(server, ALONE, 1, "Prefer: wait=30\r\n")
    assert all(a.status == 201 and a.state == "graded" for a in answers)
    milliseconds = [1000 * a.seconds for a in answers]
    p99 = quantiles(milliseconds, n=100)[98]
    print(
        f"  alone, with Prefer: wait: median {median(milliseconds):.2f} ms, p99 {p99:.2f} ms "
        f"from the request's first byte to the grade"
    )


def wait_until_settled(server: Server) -> None:
    """Until nothing is queued or at work, as the server's own instruments say."""
    while True:
        text = server.get("/metrics").text
        counts = {
            line.split(" ")[0]: float(line.split(" ")[1])
            for line in text.splitlines()
            if line.startswith("podium_submissions_")
        }
        settled = sum(v for k, v in counts.items() if k.startswith("podium_submissions_settled_t"))
        if settled >= counts["podium_submissions_received_total"]:
            return
        time.sleep(0.02)
