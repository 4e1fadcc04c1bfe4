"""`python -m benchmarks [NAME ...]`: the named ones of those below, or all of them.

`families` and `times` may be followed by the competitions to measure (`times` by `--step SECONDS`
before them), `uncertainty` by metrics, `soak` by `--minutes N`,
`history` by `--experiments N --seeds N --submissions N --beside DIR`,
`floods` and `metric_py` by the directory of another version, `waited` by several,
`--pause SECONDS` and `--before N`;
`mutations` (see its docstring) by a number of files, a seed and a directory for the files at fault;
`floods`, `history`, `mutations`, `soak`, `times` and `waited` run only if they are named. The
libraries calculate as they do in a grader, for the reference too: with one thread, and without the
code of few processors alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from app.graders.runtime_env import LIBRARIES

if LIBRARIES.items() - os.environ.items():
    # They look at it when they are loaded, and that is what the next line does.
    os.environ.update(LIBRARIES)
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])

from benchmarks import (
    distributed,
    families,
    floods,
    graders,
    grading,
    history,
    http,
    long_run,
    memory,
    metric_py,
    pages,
    reviews,
    soak,
    statistics,
    times,
    uncertainty,
    waited,
)
from tests.catalogue import mutations

BENCHMARKS: dict[str, Callable[..., None]] = {
    "grading": grading.main,
    "families": families.main,
    "graders": graders.main,
    "distributed": distributed.main,
    "http": http.main,
    "long_run": long_run.main,
    "memory": memory.main,
    "pages": pages.main,
    "reviews": reviews.main,
    "statistics": statistics.main,
    "uncertainty": uncertainty.main,
}


WITH_ARGUMENTS: dict[str, Callable[..., None]] = {
    "families": families.main,
    "floods": floods.main,
    "history": history.main,
    "http": http.main,
    "long_run": long_run.main,
    "metric_py": metric_py.main,
    "mutations": mutations.main,
    "soak": soak.main,
    "times": times.main,
    "uncertainty": uncertainty.main,
    "waited": waited.main,
}


WITH_HELP = {"history", "long_run", "soak", "times", "waited"}  # that print their own


def run(names: list[str]) -> None:
    if {"-h", "--help"} & set(names) and names[0] not in WITH_HELP:
        print(__doc__)
        return
    if names and names[0] in WITH_ARGUMENTS and not set(names[1:]) & set(BENCHMARKS):
        WITH_ARGUMENTS[names[0]](*names[1:])
        return
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        known = ", ".join({**BENCHMARKS, **WITH_ARGUMENTS})
        sys.exit(f"there is no benchmark {unknown[0]!r}; there are: {known}")
    for name in names or BENCHMARKS:
        BENCHMARKS[name]()
        print()


run(sys.argv[1:])
