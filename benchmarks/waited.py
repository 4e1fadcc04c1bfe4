"""From a file sent to its grade: what an agent waits for, beside other checkouts of Podium.

`python -m benchmarks waited [DIR ...] [--pause SECONDS] [--before N]`. One client sends files and
waits for each grade, to a server of this version and of each checkout in turns: with a built-in
metric, a light metric.py and a heavy one. `--pause` is the time between a grade and the next file,
`--before` the number of files that each server has stored before it is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import random
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.load import send_many
from benchmarks.server import Server, running

LIGHT = """
def score(answers, submission):
    return float((answers["Transported"] == submission["Transported"]).mean())
"""
HEAVY = """
import numpy as np

def score(answers, submission):
    pairs = zip(answers["Transported"], submission["Transported"])
    extra = [np.sort(np.random.default_rng(0).random(50_000)) for _ in range(40)]
    return sum(a == b for a, b in pairs) / len(answers) + 0 * len(extra)
"""
METRICS = {"built in": "", "light metric.py": LIGHT, "heavy metric.py": HEAVY}
BLOCKS, EACH = 10, 30
WAIT = "Prefer: wait=30\r\n"


@dataclass
class Measured:
    """A server of one version, and the milliseconds of its answers."""

    name: str
    server: Server
    times: list[float] = field(default_factory=list)

    def send(self, count: int, pause: float) -> list[float]:
        """Send so many files, and wait for the grade of each."""
        answers = send_many(self.server, count, 1, WAIT, pause)
        states = {answer.state for answer in answers}
        if states != {"graded"}:
            raise AssertionError(f"{self.name}: {states}")
        return [1000 * answer.seconds for answer in answers]


def main(*arguments: str) -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks waited", description=__doc__)
    options.add_argument("checkouts", nargs="*", type=Path, metavar="DIR")
    options.add_argument("--pause", type=float, default=0.0)
    options.add_argument("--before", type=int, default=0)
    given = options.parse_args(arguments)
    trees = [each.absolute() for each in given.checkouts] + [Path.cwd()]
    print(f"From a file sent to its grade, {given.pause:g} s after the last grade, {given.before} "
          "stored before: milliseconds, median (quartiles); the versions take turns")  # fmt: skip
    for name, metric_py in METRICS.items():
        found = measured(trees, metric_py, given.before, given.pause)
        ratios = [f"x{median(found[-1].times) / median(one.times):.2f}" for one in found[:-1]]
        print(f"{name:<16}", *(words(one.times) for one in found), *ratios, flush=True)


def measured(trees: list[Path], metric_py: str, before: int, pause: float) -> list[Measured]:
    """The times of a server of each version, which take turns in a random order."""
    with contextlib.ExitStack() as started:
        servers = [
            Measured(tree.name, started.enter_context(running(tree, metric_py=metric_py)))
            for tree in trees
        ]
        for one in servers:
            if before:
                send_many(one.server, before, 16)
            one.send(EACH, 0.0)  # so that all are warm, and have graded what was sent before
        for _ in range(BLOCKS):
            for one in random.sample(servers, len(servers)):
                one.times += one.send(EACH, pause)
    return servers


def words(times: list[float]) -> str:
    ordered = sorted(times)
    low, high = ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]
    return f"{median(times):7.2f} ({low:.2f} to {high:.2f})"
