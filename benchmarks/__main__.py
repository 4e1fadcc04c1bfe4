"""`python -m benchmarks [NAME ...]`: the named ones of those below, or all of them.

`families` may be followed by the competitions to measure. The libraries calculate as they do in a
grader, for the reference too: with one thread, and without the code of few processors alone.
"""

from __future__ import annotations

import os
import sys

from app.graders.runtime_env import LIBRARIES

if LIBRARIES.items() - os.environ.items():
    # They look at it when they are loaded, and that is what the next line does.
    os.environ.update(LIBRARIES)
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])

from benchmarks import distributed, families, grading, http, memory, statistics

BENCHMARKS = {
    "grading": grading.main,
    "families": families.main,
    "distributed": distributed.main,
    "http": http.main,
    "memory": memory.main,
    "statistics": statistics.main,
}


def run(names: list[str]) -> None:
    if names[:1] == ["families"] and not set(names[1:]) & set(BENCHMARKS):
        families.main(*names[1:])
        return
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}")
    for name in names or BENCHMARKS:
        BENCHMARKS[name]()
        print()


run(sys.argv[1:])
