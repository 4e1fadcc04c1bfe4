"""Another user of the machine: a program that becomes one, and tries what he may not do.

It gets as JSON on its input the user, the data directory, the processes of Podium and the port on
which Podium listens, and prints what it tried and what it could do.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
SECRETS = ("environ", "mem", "maps", "auxv", "stack", "syscall", "io", "personality", "pagemap")
LINKS = ("cwd", "root", "exe")


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def read(path: Path) -> Any:
    """Read something of a file, or the names in a directory."""
    if path.is_dir():
        return list(path.iterdir())
    with path.open("rb") as file:
        with contextlib.suppress(ValueError):
            file.seek(0x1000 if path.name == "pagemap" else 0)
        return file.read(1)


def write(path: Path) -> Any:
    descriptor = os.open(path, os.O_WRONLY)
    os.close(descriptor)
    return True


def call(name: str, *arguments: Any) -> Any:
    """A function of the C library that gives -1 for an error."""
    ctypes.set_errno(0)
    result = getattr(LIBC, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return True


def read_memory(process: int) -> Any:
    local, target = ctypes.create_string_buffer(8), ctypes.c_void_p(0x400000)
    ours = (ctypes.c_size_t * 2)(ctypes.addressof(local), 8)
    theirs = (ctypes.c_size_t * 2)(target.value or 0, 8)
    return call("process_vm_readv", process, ours, 1, theirs, 1, 0)


def connect(family: int, address: Any) -> Any:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)
    return True


def attempts_on_files(directory: Path, names: list[str]) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {}
    for name in names:
        path = directory / name
        found[f"read {name}"] = lambda path=path: read(path)  # type: ignore[misc]
        found[f"write {name}"] = lambda path=path: write(path)  # type: ignore[misc]
    found["list the directory"] = lambda: list(directory.iterdir())
    found["make a file"] = lambda: (directory / "mine").write_text("x")
    found["replace the database"] = lambda: (directory / "podium.db").rename(directory / "old.db")
    found["link to the database"] = lambda: os.link(directory / "podium.db", directory / "link")
    found["change the mode"] = lambda: directory.chmod(0o777)
    return found


def attempts_on_process(process: int) -> dict[str, Callable[[], Any]]:
    proc = Path("/proc", str(process))
    found: dict[str, Callable[[], Any]] = {
        f"read {name}": lambda name=name: read(proc / name)  # type: ignore[misc]
        for name in SECRETS
    }
    found |= {f"follow {name}": lambda name=name: (proc / name).readlink() for name in LINKS}  # type: ignore[misc]
    limit = (ctypes.c_ulong * 2)(1, 1)
    return found | {
        "list its files": lambda: list((proc / "fd").iterdir()),
        "open its files": lambda: [os.open(proc / "fd" / str(n), os.O_RDONLY) for n in range(64)],
        "change its priority to be killed": lambda: (proc / "oom_score_adj").write_text("1000"),
        "attach to it": lambda: call("ptrace", PTRACE_ATTACH, process, 0, 0),
        "seize it": lambda: call("ptrace", PTRACE_SEIZE, process, 0, 0),
        "read its memory": lambda: read_memory(process),
        "limit it": lambda: call("prlimit", process, 7, limit, None),
        "renice it": lambda: os.setpriority(os.PRIO_PROCESS, process, 19),
        "bind it to a processor": lambda: os.sched_setaffinity(process, {0}),
        "stop it": lambda: os.kill(process, signal.SIGSTOP),
        "end it": lambda: os.kill(process, signal.SIGKILL),
    }


def attempts_on_sockets(names: list[str], ports: list[int]) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {
        f"connect to {name!r}": lambda name=name: connect(  # type: ignore[misc]
            socket.AF_UNIX, "\0" + name[1:] if name.startswith("@") else name
        )
        for name in names
    }
    return found | {
        f"connect to port {port}": lambda port=port: connect(  # type: ignore[misc]
            socket.AF_INET, ("127.0.0.1", port)
        )
        for port in ports
    }


def main() -> None:
    given = json.load(sys.stdin)
    become(given["user"])
    attempts = attempts_on_files(Path(given["directory"]), given["files"])
    for process in given["processes"]:
        attempts |= {
            f"process {process}: {name}": attempt
            for name, attempt in attempts_on_process(process).items()
        }
    attempts |= attempts_on_sockets(given["sockets"], given["ports"])
    could = {}
    for name, attempt in attempts.items():
        with contextlib.suppress(OSError):
            could[name] = repr(attempt())[:80]
    json.dump({"tried": sorted(attempts), "could": could, "is": os.getresuid()}, sys.stdout)


if __name__ == "__main__":
    main()
