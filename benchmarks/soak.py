"""Soak: submissions, reads and event streams for N minutes; is the last window as fast as before?

`python -m benchmarks soak --minutes N [--submissions N] [--code DIR]`, with so many submissions in
each run before, on the server of another checkout. Latencies are printed for each window, of five
minutes if N is at least 25, otherwise of a fifth of N.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import httpx
import numpy as np

from app.storage.database.database import Database
from benchmarks.load import another
from benchmarks.long_run import fill
from benchmarks.server import Server, running

RUNS = 16
SENDERS, WAITERS, VALIDATORS, READERS, FOLLOWERS = 2, 2, 1, 2, 4
PAUSE = 0.05  # seconds between two requests of one client
WINDOW_MINUTES = 5.0
KINDS = ("submit", "submit+wait", "validate", "read", "follow")


@dataclass
class Load:
    """The runs of a load with their keys, and the latencies of each window in seconds."""

    server: Server
    runs: list[tuple[str, str]]
    window_seconds: float
    started: float = field(default_factory=time.perf_counter)
    latencies: dict[tuple[int, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def note(self, kind: str, begun: float) -> None:
        """Note the latency of a request that has just been answered."""
        now = time.perf_counter()
        self.latencies[int((now - self.started) / self.window_seconds), kind].append(now - begun)


def main(*arguments: str) -> None:
    """Run the load, and print a table of the windows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--submissions", type=int, default=0, help="in each run before")
    parser.add_argument("--code", type=Path, help="the checkout whose server is measured")
    chosen = parser.parse_args(arguments)
    minutes = chosen.minutes
    window = 60 * min(WINDOW_MINUTES, minutes / 5)
    windows = max(1, round(60 * minutes / window))
    with running(chosen.code) as server:
        if chosen.submissions:
            with contextlib.closing(Database(f"sqlite:///{server.data / 'podium.db'}")) as database:
                for run, _ in server.runs[:RUNS]:
                    fill(database, run, chosen.submissions)
        asyncio.run(soak(server, window, windows))


async def soak(server: Server, window: float, windows: int) -> None:
    """Load the server for so many windows."""
    load = Load(server, server.runs[:RUNS], window)
    print(
        f"soak: {windows} windows of {window / 60:g} minutes; {RUNS} runs, {SENDERS} senders, "
        f"{WAITERS} who wait, {VALIDATORS} validators, {READERS} readers, {FOLLOWERS} streams"
    )
    print(f"{'window':>6} {'server MB':>9}  " + "  ".join(f"{kind:>24}" for kind in KINDS))
    print(f"{'':>6} {'':>9}  " + "  ".join(f"{'count    p50    p99 ms':>24}" for _ in KINDS))
    jobs = [
        *(submit for _ in range(SENDERS)), *(submit_and_wait for _ in range(WAITERS)),
        *(validate for _ in range(VALIDATORS)), *(read for _ in range(READERS)),
        *(follow for _ in range(FOLLOWERS)),
    ]  # fmt: skip
    load.started = time.perf_counter()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{server.port}", timeout=60, trust_env=False, limits=limits
    ) as client:
        tasks = [
            asyncio.create_task(repeat(load, client, job, number))
            for number, job in enumerate(jobs)
        ]
        for number in range(windows):
            await asyncio.sleep(load.started + (number + 1) * window - time.perf_counter())
            print_window(load, number)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    compare(load, windows)


async def repeat(
    load: Load,
    client: httpx.AsyncClient,
    job: Callable[[Load, httpx.AsyncClient, str, dict[str, str]], Awaitable[None]],
    number: int,
) -> None:
    """Do a job again and again, each time for another run."""
    for turn in itertools.count(number):
        run, key = load.runs[turn % len(load.runs)]
        try:
            await job(load, client, run, {"Authorization": f"Bearer {key}"})
        except httpx.HTTPError as error:
            load.errors.append(f"{job.__name__}: {error!r}")
        await asyncio.sleep(PAUSE)


async def submit(load: Load, client: httpx.AsyncClient, run: str, key: dict[str, str]) -> None:
    """Send a submission."""
    await send(load, client, run, key, "submit")


async def submit_and_wait(
    load: Load, client: httpx.AsyncClient, run: str, key: dict[str, str]
) -> None:
    """Send a submission and wait for its grade."""
    await send(load, client, run, {**key, "Prefer": "wait=30"}, "submit+wait")


async def send(
    load: Load, client: httpx.AsyncClient, run: str, headers: dict[str, str], kind: str
) -> None:
    """Send a submission with these headers."""
    body = another(load.server.body, next(load.numbers) % 65536)
    begun = time.perf_counter()
    answer = await client.post(
        f"/v1/runs/{run}/submissions", content=body, headers={**headers, "Content-Type": "text/csv"}
    )
    answer.raise_for_status()
    load.note(kind, begun)


async def validate(load: Load, client: httpx.AsyncClient, run: str, key: dict[str, str]) -> None:
    """Check the form of a file."""
    begun = time.perf_counter()
    answer = await client.post(
        f"/v1/runs/{run}/validate", content=load.server.body,
        headers={**key, "Content-Type": "text/csv"},
    )  # fmt: skip
    answer.raise_for_status()
    load.note("validate", begun)


async def read(load: Load, client: httpx.AsyncClient, run: str, key: dict[str, str]) -> None:
    """Read a page of the run's submissions, its ledger's first page, and the metrics."""
    for path in (f"/v1/runs/{run}/submissions?limit=50", f"/v1/runs/{run}/exposure?limit=50"):
        begun = time.perf_counter()
        (await client.get(path, headers=key)).raise_for_status()
        load.note("read", begun)
    admin = {"Authorization": f"Bearer {load.server.key}"}
    (await client.get("/metrics", headers=admin)).raise_for_status()


async def follow(load: Load, client: httpx.AsyncClient, run: str, key: dict[str, str]) -> None:
    """Open an event stream from its start, and read it for two seconds."""
    begun = time.perf_counter()
    async with client.stream("GET", f"/v1/runs/{run}/events", headers=key) as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        load.note("follow", begun)
        try:
            async with asyncio.timeout(2):
                async for _ in lines:
                    pass
        except TimeoutError:
            pass


def print_window(load: Load, number: int) -> None:
    """One line: the server's memory, and for each kind of request count, median and p99."""
    cells = []
    for kind in KINDS:
        found = [1000 * seconds for seconds in load.latencies[number, kind]]
        p50, p99 = (median(found), p99_of(found)) if len(found) > 1 else (0.0, 0.0)
        cells.append(f"{len(found):>8} {p50:>7.1f} {p99:>7.1f}")
    print(f"{number + 1:>6} {resident(load.server.pid):>9.0f}  " + "  ".join(cells), flush=True)


def compare(load: Load, windows: int) -> None:
    """The last two windows against the second and third: of an hour, minutes 5 to 15.

    All requests together come first, then each kind. Of some kinds a few values decide the p99, so
    its ratio has an interval.
    """
    for name, kinds in [("all", KINDS), *((kind, (kind,)) for kind in KINDS)]:
        early, late = (
            [
                seconds
                for kind in kinds
                for number in (first, first + 1)
                for seconds in load.latencies[number, kind]
            ]
            for first in (1, windows - 2)
        )
        if windows > 4 and min(len(early), len(late)) > 1:
            low, high = p99_interval(early, late)
            print(
                f"{name}: last two windows / second and third: "
                f"p50 {median(late) / median(early):.2f}, "
                f"p99 {p99_of(late) / p99_of(early):.2f} ({low:.2f} to {high:.2f})"
            )
    print(f"errors: {len(load.errors)}" + (f", the first: {load.errors[0]}" if load.errors else ""))


def p99_of(values: list[float]) -> float:
    """The 99th percentile."""
    return quantiles(values, n=100)[98]


def p99_interval(early: list[float], late: list[float]) -> tuple[float, float]:
    """Between what 95 % of 1,000 bootstrap resamples have the ratio of the p99s, late to early.

    A resample is of single requests. Neighbours in time are more alike than others, so the
    interval is rather too narrow.
    """
    random = np.random.default_rng(0)
    late_p99, early_p99 = (
        np.array([np.quantile(random.choice(values, values.size), 0.99) for _ in range(1000)])
        for values in (np.array(late), np.array(early))
    )
    low, high = np.quantile(late_p99 / early_p99, (0.025, 0.975))
    return float(low), float(high)


def resident(pid: int) -> float:
    """The resident memory of a process in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
