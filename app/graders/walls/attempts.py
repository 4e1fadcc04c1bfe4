"""The forbidden actions that the self-test of the walls tries. Their success does no harm.

It imports only the standard library, like `sandbox`.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import platform
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path

from app.graders.walls import sandbox, syscalls
from app.units import MEGABYTE

# The number of keyctl, and its operation that returns the id of the session's keyring.
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_SESSION_KEYRING = (0, -3, 0)
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_GROWING_STACK = _PRIVATE | 0x100  # MAP_GROWSDOWN, which RLIMIT_DATA does not count
_TIME_ON_PROCESSORS = 2  # CPUCLOCK_SCHED: the low bits of a clock's number, beside a process's id
_PRIVATE_KEY, _READ_ONLY_MODE, _PAGE, _REMOVE = 0, 0o600, 4096, 0
TRIED_MB = 64  # the limit of memory of the test's process
Attempts = dict[str, Callable[[], object]]


def attempts(server: int, directory: Path | None) -> dict[str, Attempts]:
    """The forbidden actions of each wall, by name. Call this before the walls are put up.

    `server` is the process that a job must not reach, `directory` an empty directory of the test,
    if one could be made.
    """
    target = Path(__file__)
    descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    libc = syscalls.libc()
    status = target.stat()

    def call(function: str, *arguments: object) -> Callable[[], object]:
        return lambda: syscalls.checked(getattr(libc, function)(*arguments))

    def keyring() -> None:
        syscalls.checked(syscalls.syscall(_KEYCTL[platform.machine()], *_SESSION_KEYRING))

    def shared_memory() -> None:
        number = syscalls.checked(libc.shmget(_PRIVATE_KEY, _PAGE, _READ_ONLY_MODE))
        libc.shmctl(number, 0, None)

    def semaphores() -> None:
        number = syscalls.checked(libc.semget(_PRIVATE_KEY, 1, _READ_ONLY_MODE))
        libc.semctl(number, 0, _REMOVE)

    def message_queue() -> None:
        number = syscalls.checked(libc.msgget(_PRIVATE_KEY, _READ_ONLY_MODE))
        libc.msgctl(number, _REMOVE, None)

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        # A SIGCHLD after ptrace would stop this process for ever, because nobody traces it.
        os.waitpid(child, 0)

    def descriptor_of_memory() -> None:
        os.close(os.memfd_create("podium"))

    return {
        "files": _on_files(directory, target),
        "network": {
            "a socket to 127.0.0.1": lambda: _connect(socket.AF_INET, "127.0.0.1"),
            "a socket to ::1": lambda: _connect(socket.AF_INET6, "::1"),
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
            "reading the processor time of the server": lambda: time.clock_gettime(
                ~server << 3 | _TIME_ON_PROCESSORS
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
            "semget": semaphores,
            "msgget": message_queue,
            "memfd_create": descriptor_of_memory,
            "shared anonymous memory": lambda: mmap.mmap(-1, _PAGE).close(),
        },
        "keys": {"keyctl": keyring},
        "memory": {
            "private memory beyond the limit": lambda: _map(TRIED_MB + 1),
            "a stack that grows": lambda: _map(1, flags=_GROWING_STACK),
            "mapped files beyond the limit": lambda: _map(
                TRIED_MB + sandbox.ADDRESSES_MB + 1, mmap.PROT_READ
            ),
        },
        "privileges": {},
    }


def _on_files(directory: Path | None, target: Path) -> Attempts:
    """Changes of files: of an existing one, in a directory of the test, and new ones."""
    if directory is None:
        new = Path("/", f"podium-self-test-{os.getpid()}")

        def make() -> None:
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT, 0o600))
            new.unlink()

        return {
            "making a file": make,
            "opening a file for writing": lambda: os.close(os.open(target, os.O_WRONLY)),
        }
    old, new = directory / "old", directory / "new"
    old.touch()
    return {
        "making a file": lambda: os.close(os.open(new, os.O_WRONLY | os.O_CREAT, 0o600)),
        "opening a file for writing": lambda: os.close(os.open(old, os.O_WRONLY)),
        "cutting a file": lambda: os.truncate(old, 0),
        "making a directory": new.mkdir,
        "making a pipe": lambda: os.mkfifo(new),
        "making a link": lambda: new.hardlink_to(old),
        "making a symbolic link": lambda: new.symlink_to(old),
        "renaming a file": lambda: old.rename(new),
        "removing a file": old.unlink,
        "removing a directory": old.parent.rmdir,
    }


def _map(
    megabytes: int, protection: int = mmap.PROT_READ | mmap.PROT_WRITE, flags: int = _PRIVATE
) -> None:
    """Reserve memory, and give it back."""
    size = megabytes * MEGABYTE
    mmap.mmap(-1, size, flags=flags, prot=protection).close()


def works(step: Callable[[], object]) -> bool:
    """Whether an action is not refused, whatever else its result is."""
    try:
        step()
    except OSError as error:
        # The error is about a name that does not exist: the call itself was allowed.
        return error.errno in {errno.ENOENT, errno.ENODATA, errno.ENOTEMPTY, errno.EEXIST}
    return True


def _connect(family: socket.AddressFamily, address: str) -> None:
    """Connect UDP, which looks up a route and sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))


def _execute() -> None:
    os.execv("/nowhere/podium-self-test", ["podium-self-test"])  # noqa: S606


def _read(process: int, name: str) -> bytes:
    return Path(f"/proc/{process}/{name}").read_bytes()
