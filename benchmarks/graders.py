"""The cost of starting graders: copies of one template beside processes that load everything.

The second way is a template for each grader, which is what a process by exec costs.
"""

from __future__ import annotations

import statistics
import time

import psutil

from app.graders.process import GraderProcess
from app.graders.template import GraderTemplate

GRADERS = 4  # of a server on two cores: two that grade, two that validate
ROUNDS = 9
MEGABYTE = 1024 * 1024


def main() -> None:
    print(f"Starting {GRADERS} graders one after another, medians of {ROUNDS} rounds")
    took: dict[str, list[tuple[float, float, float]]] = {"one template": [], "one each": []}
    for _ in range(ROUNDS):
        for way, rounds in took.items():
            count = 1 if way == "one template" else GRADERS
            rounds.append(_start([GraderTemplate() for _ in range(count)] * (GRADERS // count)))
    for way, rounds in took.items():
        wall, processor, memory = (
            statistics.median(column) for column in zip(*rounds, strict=True)
        )
        print(
            f"  {way:12}: {wall:6.2f} s, {processor:6.2f} s of processor time, "
            f"{memory / MEGABYTE:6.1f} MB"
        )


def _start(templates: list[GraderTemplate]) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and bytes of memory (shared pages counted once)."""
    began = time.monotonic()
    graders = [
        GraderProcess("grade", memory_mb=400, cache_mb=16, template=each) for each in templates
    ]
    wall = time.monotonic() - began
    try:
        processes = {psutil.Process(grader.pid) for grader in graders}
        processes |= {parent for one in processes if (parent := one.parent()) is not None}
        times = [one.cpu_times() for one in processes]
        memory = sum(one.memory_full_info().pss for one in processes)
    finally:
        for grader in graders:
            grader.kill()
    return wall, sum(each.user + each.system for each in times), memory
