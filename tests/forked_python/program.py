"""The process that forks: `python program.py DESCRIPTOR MODULE...`, by the Python of a client.

It loads the modules and then forks for each request: a datagram of JSON with the descriptors of
standard output and standard error. The answer is the exit status. It imports nothing of Podium,
which the client's environment does not have.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import random
import runpy
import signal
import socket
import sys
import threading
import time
import traceback
import types
from typing import Any

MAX_REQUEST = 1 << 20  # bytes
PR_SET_PDEATHSIG = 1


def main() -> None:
    """Load the modules, say so, and fork for each request until the asker closes its end."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then closes its end
    gc.disable()  # nearly all that is loaded stays
    for name in sys.argv[2:]:
        importlib.import_module(name)
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    assert threads == 1, "a fork would copy locks of threads that it does not copy"
    gc.collect()
    gc.freeze()  # a collection in a forked process must not copy the pages of all these objects
    gc.enable()
    channel.send(b"ready")
    while True:
        data, descriptors, _, _ = socket.recv_fds(channel, MAX_REQUEST, 2)
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            channel.close()
            become(json.loads(data), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Run the program of a request, and end as the interpreter ends; never returns."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for target, source in zip((1, 2), descriptors, strict=True):
        os.dup2(source, target)
        os.close(source)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = run(request["words"])
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are not daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def run(words: list[str]) -> int:
    """Run `-c CODE ...` or a script with its arguments, as Python does; its exit status."""
    try:
        if words[0] == "-c":
            sys.argv, sys.path[0] = ["-c", *words[2:]], ""
            module = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(words[1], "<string>", "exec"), vars(module))
        else:
            sys.argv, sys.path[0] = words, os.path.dirname(words[0])  # noqa: PTH120
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
