"""The self-test of the walls: a process restricts itself like a job, and tries forbidden actions.

It reports every action that succeeds. The actions are chosen so that success does no harm. It
imports only the standard library, like `sandbox`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from app.graders.walls import sandbox, syscalls
from app.graders.walls.isolation import Isolation

# The number of keyctl, and its operation that returns the id of the session's keyring.
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_SESSION_KEYRING = (0, -3, 0)
_PRIVATE_KEY, _READ_ONLY_MODE, _PAGE = 0, 0o600, 4096
Attempts = dict[str, Callable[[], object]]


def isolation(server: int) -> Isolation:
    """Find the walls that this machine puts around a job, in a process made for the test.

    `server` is the process that a job must not reach. Call this before the process gives up the
    right to start others, and before any thread runs. The walls `memory` and `orphans` belong to
    the grader itself and are not tested here.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = _try_everything(server)
        except BaseException as error:  # after any error no wall is promised
            result = {"": [type(error).__name__]}
        os.write(writer, json.dumps(result).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    found: dict[str, list[str]] = {"": ["it ended without a result"]}
    if data:
        found = json.loads(data)
    broken = found.pop("", [])
    notes = [f"{wall}: {text}" for wall, texts in found.items() for text in texts]
    notes += [f"self-test: {text}" for text in broken]
    walls = {name: not texts and not broken for name, texts in found.items()}
    return Isolation(**walls, notes=tuple(notes))


def _try_everything(server: int) -> dict[str, list[str]]:
    """For each wall the attempts that succeeded; an empty list where all were refused."""
    target = Path(__file__)
    descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    walls = _attempts(server, target, descriptor)  # while a temporary directory can be found
    steps = sandbox.confine(os.getppid(), starts_processes=True)
    privileges = _privileges(steps)  # while they can be read
    steps += sandbox.JobWalls((), None).put_up()
    found: dict[str, list[str]] = {}
    for wall, attempts in walls.items():
        worked = [f"{name} is possible" for name, step in attempts.items() if _works(step)]
        reasons = [note.partition(": ")[2] for note in steps if note.startswith(f"{wall}:")]
        found[wall] = [*worked, *reasons] if worked else []
    found["privileges"] += privileges
    return found


def _attempts(server: int, target: Path, descriptor: int) -> dict[str, Attempts]:
    libc = syscalls.libc()
    status = target.stat()
    new = Path(tempfile.gettempdir(), f"podium-self-test-{os.getpid()}")

    def call(function: str, *arguments: object) -> Callable[[], object]:
        return lambda: syscalls.checked(getattr(libc, function)(*arguments))

    def make_file() -> None:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        new.unlink()

    def make_directory() -> None:
        new.mkdir()
        new.rmdir()

    def keyring() -> None:
        syscalls.checked(syscalls.syscall(_KEYCTL[platform.machine()], *_SESSION_KEYRING))

    def shared_memory() -> None:
        number = syscalls.checked(libc.shmget(_PRIVATE_KEY, _PAGE, _READ_ONLY_MODE))
        libc.shmctl(number, 0, None)

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        # A SIGCHLD after ptrace would stop this process: nobody traces it, so for ever.
        os.waitpid(child, 0)

    def descriptor_of_memory() -> None:
        os.close(os.memfd_create("podium"))

    return {
        "network": {
            "a socket to 127.0.0.1": lambda: _connect(socket.AF_INET, "127.0.0.1"),
            "a socket to ::1": lambda: _connect(socket.AF_INET6, "::1"),
        },
        "files": {
            "making a file": make_file,
            "opening a file for writing": lambda: os.close(os.open(target, os.O_WRONLY)),
            "making a directory": make_directory,
        },
        "reading": {
            "listing /": lambda: os.listdir("/"),  # noqa: PTH208
            "reading /etc/passwd": lambda: Path("/etc/passwd").read_bytes(),
            "reading the command line of the server": lambda: _read(server, "cmdline"),
        },
        "attributes": {
            "chmod": lambda: target.chmod(status.st_mode & 0o7777),
            "chown": lambda: os.chown(target, -1, -1),
            "utime": lambda: os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns)),
            "setxattr": lambda: os.setxattr(target, "user.podium", b"", os.XATTR_REPLACE),
        },
        "locks": {
            "flock": lambda: fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB),
            "lockf": lambda: fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB),
            "a lease": lambda: fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        },
        "processes": {
            "fork": fork,
            "execve": _execute,
        },
        "server": {
            "a signal to the server": lambda: os.kill(server, 0),
            "reading the environment of the server": lambda: _read(server, "environ"),
            "reading the memory of the server": call(
                "process_vm_readv", server, None, 0, None, 0, 0
            ),
        },
        "limits": {
            "prlimit": lambda: resource.prlimit(server, resource.RLIMIT_NOFILE),
            "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, 0, 19),
            "sched_setaffinity": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
            "sched_setscheduler": lambda: os.sched_setscheduler(
                0, os.SCHED_OTHER, os.sched_param(0)
            ),
        },
        "tracing": {"ptrace": call("ptrace", 0, 0, None, None)},
        "shared_memory": {
            "shmget": shared_memory,
            "memfd_create": descriptor_of_memory,
            "shared anonymous memory": lambda: mmap.mmap(-1, _PAGE).close(),
        },
        "keys": {"keyctl": keyring},
        "privileges": {},
    }


def _privileges(steps: list[str]) -> list[str]:
    """Which capabilities are left beyond root's to read files, and whether any can be gained."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    left = int(status["CapEff"], 16) | int(status["CapPrm"], 16)
    found = [] if left & ~(1 << 2) == 0 else [f"the capabilities {left:x} are left"]
    found += [] if status["NoNewPrivs"].strip() == "1" else ["programs may grant privileges"]
    return found + [note for note in steps if found and note.startswith("privileges:")]


def _works(step: Callable[[], object]) -> bool:
    try:
        step()
    except OSError as error:
        # The error is about a name that does not exist: the call itself was allowed.
        return error.errno in {errno.ENOENT, errno.ENODATA}
    return True


def _connect(family: socket.AddressFamily, address: str) -> None:
    """Connect UDP, which looks up a route and sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))


def _execute() -> None:
    os.execv("/nowhere/podium-self-test", ["podium-self-test"])  # noqa: S606


def _read(process: int, name: str) -> bytes:
    return Path(f"/proc/{process}/{name}").read_bytes()
