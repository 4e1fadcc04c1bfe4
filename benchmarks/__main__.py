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

import importlib
import os
import sys
from collections.abc import Callable

from app.graders.runtime_env import LIBRARIES

if LIBRARIES.items() - os.environ.items():
    # They look at it when they are loaded, and that is what the next line does.
    os.environ.update(LIBRARIES)
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])

ALL = (
    "grading", "families", "graders", "distributed", "http", "long_run", "memory", "pages",
    "reviews", "statistics", "uncertainty",
)  # fmt: skip
WITH_ARGUMENTS = (
    "families", "floods", "history", "http", "long_run", "metric_py", "mutations", "soak", "times",
    "uncertainty", "waited",
)  # fmt: skip
WITH_HELP = {"history", "long_run", "soak", "times", "waited"}  # that print their own


def main_of(name: str) -> Callable[..., None]:
    """The function of a benchmark, whose module is loaded only now: most load much."""
    where = "tests.catalogue" if name == "mutations" else "benchmarks"
    function: Callable[..., None] = importlib.import_module(f"{where}.{name}").main
    return function


def run(names: list[str]) -> None:
    if {"-h", "--help"} & set(names) and names[0] not in WITH_HELP:
        print(__doc__)
        return
    if names and names[0] in WITH_ARGUMENTS and not set(names[1:]) & set(ALL):
        main_of(names[0])(*names[1:])
        return
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        known = ", ".join(dict.fromkeys(ALL + WITH_ARGUMENTS))
        sys.exit(f"there is no benchmark {unknown[0]!r}; there are: {known}")
    for name in names or ALL:
        main_of(name)()
        print()


run(sys.argv[1:])
