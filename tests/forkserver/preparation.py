"""The process of a prepare.py: a fork too, so that it does not load pandas and scikit-learn."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
import traceback
from typing import Any, NoReturn

from tests.forkserver.forking import reseed

PROGRAM = "app.preparation.run"
# What prepare.py files of the catalogue import.
LOADED = (PROGRAM, "pandas", "pyarrow.parquet", "sklearn.model_selection")


def load() -> None:
    """Import what the files load."""
    for name in LOADED:
        importlib.import_module(name)


def become(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Take the place of a newly started `python -B -m app.preparation.run`."""
    errors, parent = descriptors
    os.dup2(errors, 2)
    os.close(errors)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    reseed()
    words = request["words"]
    words[words.index("--parent") + 1] = str(parent)  # its number here
    sys.argv = words[words.index(PROGRAM) :]
    sys.path[0] = request["cwd"]
    sys.dont_write_bytecode = True
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False, buffering=1)
    status = 0
    try:
        importlib.import_module(PROGRAM).run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are not daemons
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(status)
