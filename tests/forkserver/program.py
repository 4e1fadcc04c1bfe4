"""The fork server: loads the modules of `podium`, then forks for each command it is asked to run.

Requests are datagrams of JSON with the descriptors that the new process gets; the answer is its
process id. The process is not this one's child but the asker's: see `forking`.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import itertools
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

from tests.forkserver import consoles, template
from tests.forkserver.forking import reseed, serve_requests
from tests.forkserver.memory_file import move_to_file

# What commands and the server load when they run, beside the modules of `app`.
LOADED_LATER = (
    "alembic.autogenerate", "alembic.command", "alembic.ddl.postgresql", "alembic.ddl.sqlite",
    "alembic.runtime.migration", "alembic.script", "anyio._backends._asyncio", "asyncio.runners",
    "bleach", "certifi", "email.mime.multipart", "encodings.idna", "encodings.utf_8_sig",
    "http.client", "httpcore", "httptools", "jinja2.ext", "kagglesdk.kaggle_client",
    "logging.config", "pandas", "procrastinate.psycopg_connector", "psycopg.types.json",
    "psycopg_pool", "pyarrow.csv", "requests", "rich._emoji_codes", "rich.table",
    "rich.traceback", "sklearn.metrics", "slugify", "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite", "tqdm", "typer._adapters", "typer._click.decorators",
    "uvicorn.lifespan.on", "uvicorn.loops.uvloop", "uvicorn.protocols.http.httptools_impl",
    "uvloop", "xml.etree.ElementTree",
)  # fmt: skip
# They act when they are loaded, or are programs that other processes run.
NOT_LOADED = ("__main__", "app.graders.program", "app.cli.demo.agent", "app.cli.harbor.verifier")
ENDING_SECONDS = 5.0  # for a thread that a library needed only while it was loaded
FORK_AWARE = ("jemalloc_bg_thd",)  # Arrow's allocator, which starts its thread again after a fork


def main(channel: socket.socket) -> None:
    """Load the modules, say so, and fork until the asker closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then closes its end
    gc.disable()  # nearly all that is loaded stays; to look for garbage takes a quarter of the time
    load()
    gc.freeze()  # a collection in a forked process must not copy the pages of all these objects
    gc.enable()
    others = other_threads()
    deadline = time.monotonic() + ENDING_SECONDS
    while others and time.monotonic() < deadline:
        time.sleep(0.01)
        others = other_threads()
    assert not others, f"a fork would copy locks of threads that it does not copy: {others}"
    assert sys.stdout.encoding.upper() == "UTF-8", "tests need a language with UTF-8"
    move_to_file()
    channel.send(b"ready")
    serve_requests(channel, become)


def other_threads() -> list[str]:
    """The names of threads that a fork would not copy, though what they do may hold locks."""
    # The first thread is named by its number: where numbers begin anew, it may not be the lowest.
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    names = [(task / "comm").read_text().strip() for task in tasks]
    return [name for name in names if name not in FORK_AWARE]


def load() -> None:
    """Import the modules of commands, server and worker."""
    import app

    for module in pkgutil.walk_packages(app.__path__, "app."):
        if not any(part in module.name for part in NOT_LOADED):
            importlib.import_module(module.name)
    for name in LOADED_LATER:
        importlib.import_module(name)
    template.load()


def become(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Take the place of a newly started `python -m app.cli`; never returns."""
    targets = request["descriptors"]
    # First out of the way of all targets: a source may have the number of another's target.
    above = max(targets) + 1
    sources = [os.dup2(fd, above + 64 + place) for place, fd in enumerate(descriptors)]
    for source, target in zip(sources, targets, strict=True):
        os.dup2(source, target, inheritable=True)
    kept = [-1, *sorted(targets), os.sysconf("SC_OPEN_MAX")]
    for low, high in itertools.pairwise(kept):
        if low + 1 < high:  # closerange(0, 0) closes all
            os.closerange(low + 1, high)
    if request["new_session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
    open_streams(unbuffered=bool(os.environ.get("PYTHONUNBUFFERED")))
    consoles.renew()
    reseed()
    sys.path[0] = request["cwd"]
    sys.argv = ["podium", *request["words"]]
    if template.COMMANDS.intersection(request["words"][:1]):
        template.prepare()
    end(run())


def open_streams(*, unbuffered: bool) -> None:
    """Make sys.stdin, stdout and stderr anew, buffered as Python buffers them at its start."""
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        raw = io.FileIO(descriptor, mode, closefd=False)
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        errors = "backslashreplace" if name == "stderr" else getattr(sys, name).errors
        stream = io.TextIOWrapper(
            buffer, getattr(sys, name).encoding, errors,
            line_buffering=name == "stderr" or raw.isatty(), write_through=unbuffered,
        )  # fmt: skip
        if unbuffered and mode == "w":
            stream.reconfigure(line_buffering=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run() -> int:
    """Run the command as `python -m app.cli` does; its exit status."""
    try:
        runpy.run_module("app.cli", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        traceback.print_exc()
        return 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(status: int) -> NoReturn:
    """End as the interpreter ends, but do not free 400 MB object by object: 0.2 s."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are not daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
