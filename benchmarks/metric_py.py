"""The cost of a grade by a metric.py, beside another checkout of Podium if one is given.

`python -m benchmarks metric_py [DIR]`. Both versions grade the same files, in turns, each through
its own pool of one grader. Processor time is that of the graders with all their processes and of
the server's side; the process of the next job is counted too, for it is prepared for each grade.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

LIGHT = """
def score(answers, submission):
    return float((answers["y"] - submission["y"]).abs().mean())
"""
HEAVY = """
import numpy as np

def score(answers, submission):
    pairs = zip(answers["y"], submission["y"])
    extra = [np.sort(np.random.default_rng(0).random(50_000)) for _ in range(40)]
    return sum(abs(a - b) for a, b in pairs) / len(answers) + 0 * len(extra)
"""
CASES = [(name, rows, text) for name, text in (("light", LIGHT), ("heavy", HEAVY), ("built in", ""))
         for rows in (20, 20_000)]  # fmt: skip
BLOCKS = 7
GRADES = {"light": 30, "heavy": 10, "built in": 60}  # of one block
TICKS = os.sysconf("SC_CLK_TCK")


def main(*other: str) -> None:
    trees = [Path(directory).absolute() for directory in other] + [Path.cwd()]
    print("Grades by a metric.py: milliseconds, medians; the versions take turns")
    with tempfile.TemporaryDirectory() as directory, _graders(trees) as graders:
        for name, rows, text in CASES:
            folder = write_competition(
                Path(directory, f"{name.replace(' ', '-')}-{rows}"), rows, text
            )
            found: list[list[dict[str, Any]]] = [[] for _ in trees]
            for block in range(BLOCKS + 1):  # the first one warms up
                for grader, blocks in zip(graders, found, strict=True):
                    measured = ask(grader, folder, GRADES[name])
                    if block:
                        blocks.append(measured)
            if len({blocks[0]["score"] for blocks in found}) != 1:
                raise AssertionError(f"{name}: the scores differ")
            cost = [median(block["processor"] for block in blocks) for blocks in found]
            wall = [median(one for block in blocks for one in block["walls"]) for blocks in found]
            print(f"{name:<10}{rows:>8,}  processor {words(cost)}  wall {words(wall)}", flush=True)


def words(values: list[float]) -> str:
    ratio = f"  x{values[-1] / values[0]:.2f}" if values[1:] else ""
    return " ".join(f"{value:8.2f}" for value in values) + ratio


def write_competition(folder: Path, rows: int, metric_py: str) -> Path:
    """A competition of one column of numbers, at `folder`/v1, and a submission beside it."""
    version = folder / "v1"
    for part in ("public", "private"):
        (version / part).mkdir(parents=True)
    rng = np.random.default_rng(0)
    ids = [f"r{row:06d}" for row in range(rows)]
    truth = rng.normal(10, 3, rows)
    guess = truth + rng.normal(0, 1, rows)
    for file, values in (("private/answers", truth), ("public/sample_submission", 0 * truth),
                         ("../submission", guess)):  # fmt: skip
        pd.DataFrame({"id": ids, "y": values}).to_csv(version / f"{file}.csv", index=False)
    (version / "competition.toml").write_text(
        'title = "Benchmark"\nversion = 1\n[metric]\n'
        f'name = "{"my_error" if metric_py else "root_mean_squared_error"}"\n'
        '[submission]\nid = "id"\n[submission.columns]\ny = { kind = "number" }\n'
    )
    if metric_py:
        (version / "metric.py").write_text(metric_py)
    return folder


@contextmanager
def _graders(trees: list[Path]) -> Iterator[list[subprocess.Popen[str]]]:
    """A process for each version that grades when it is asked."""
    started = [
        subprocess.Popen(
            [sys.executable, "-P", __file__], env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for tree in trees
    ]  # fmt: skip
    try:
        yield started
    finally:
        for process in started:
            process.communicate()


def ask(grader: subprocess.Popen[str], folder: Path, count: int) -> dict[str, Any]:
    assert grader.stdin is not None
    assert grader.stdout is not None
    grader.stdin.write(f"{count} {folder}\n")
    grader.stdin.flush()
    found: dict[str, Any] = json.loads(grader.stdout.readline())
    return found


def serve() -> None:
    """Grade what standard input asks for, by the version that PYTHONPATH names."""
    from app.graders.pool import GraderPool

    try:
        make: Any = importlib.import_module("app.graders.version_folder").VersionFolder
    except ImportError:  # an older version, whose graders take the slug from the path
        make = lambda _slug, path: path  # noqa: E731
    with GraderPool(processes=1, seconds=120, memory_mb=4096, cache_mb=512) as pool:
        pool.warm_up()
        for line in sys.stdin:
            count, folder = line.split()
            version = make(Path(folder).name, Path(folder, "v1"))
            walls, before = [], processor_seconds()
            for _ in range(int(count)):
                started = time.perf_counter()
                graded = pool.grade(version, Path(folder, "submission.csv")).result()
                walls.append(1000 * (time.perf_counter() - started))
            spent = 1000 * (processor_seconds() - before) / int(count)
            score = getattr(graded, "score", repr(graded))
            print(json.dumps({"processor": spent, "walls": walls, "score": score}), flush=True)


def processor_seconds() -> float:
    """The use so far by this process and its descendants, including ended ones."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended just now
            continue
        children.setdefault(int(fields[1]), []).append(int(directory.name))
        spent[int(directory.name)] = sum(map(int, fields[11:15])) / TICKS
    total, todo = time.process_time(), list(children.get(os.getpid(), []))
    while todo:
        process = todo.pop()
        total += spent[process]
        todo += children.get(process, [])
    return total


if __name__ == "__main__":
    serve()
