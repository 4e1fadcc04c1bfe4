"""What a grader gives up before it sees an answer or a metric.py.

The server starts a grader in a session of its own with a clean environment, no standard streams
and no other open file (see `process.py`); the rest a process can only do to itself, and does here.
Whatever this machine does not allow is said in `Isolation`, never skipped in silence.

Imports nothing but the standard library: leaving the user namespace needs a process with one
thread, and numpy and pyarrow start threads.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.graders import kernel

NICENESS = 5  # below the server, so that answering HTTP stays quick while graders are busy
MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Isolation:
    """What graders are cut off from. `notes` say why where something is False.

    network: nothing can be reached, this machine's own addresses included.
    files: no file can be written, made or removed.
    processes: no process can be started.
    server: neither the server's memory nor its environment can be read, and it gets no signal.
    memory: one job cannot take more than its limit.
    orphans: a grader does not outlive its server.
    """

    network: bool = False
    files: bool = False
    processes: bool = False
    server: bool = False
    memory: bool = False
    orphans: bool = False
    notes: tuple[str, ...] = ()

    def weakest(self, other: Isolation) -> Isolation:
        """What holds for both."""
        return Isolation(
            network=self.network and other.network,
            files=self.files and other.files,
            processes=self.processes and other.processes,
            server=self.server and other.server,
            memory=self.memory and other.memory,
            orphans=self.orphans and other.orphans,
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
        )


def confine(server: int) -> Isolation:
    """Cut this process off, for good. `server` is the process id of who must outlive it."""
    notes: list[str] = []
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    _try(notes, "memory", "oom_score_adj", _go_before_the_server)
    _try(notes, "network", "unshare", _leave_network)
    _try(notes, "server", "capset", kernel.drop_capabilities)
    _try(notes, "server", "prctl", kernel.gain_no_privileges)
    files = _try(notes, "files", "landlock", kernel.landlock)
    processes = _try(notes, "processes", "seccomp", kernel.refuse_sockets_and_processes)
    orphans = _try(notes, "orphans", "prctl", kernel.die_with_parent)
    if os.getppid() != server:
        os._exit(0)  # the server died before it could be watched
    return Isolation(
        network=not _something_answers(),
        files=files,
        processes=processes,
        server=not _reaches(server),
        orphans=orphans,
        notes=tuple(notes),
    )


def limit_memory(isolation: Isolation, megabytes: int) -> Isolation:
    """Let this process take `megabytes` more than it has now; call it once all is warm."""
    notes = list(isolation.notes)
    done = _try(notes, "memory", "rlimit", lambda: _limit_data(megabytes))
    return replace(isolation, memory=done, notes=tuple(notes))


def _try(notes: list[str], what: str, how: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except (OSError, ValueError) as error:
        notes.append(f"{what}: {how}: {error}")
        return False
    return True


def _go_before_the_server() -> None:
    """Should the machine run out of memory, have a grader killed and not the server."""
    if sys.platform == "linux":
        Path("/proc/self/oom_score_adj").write_text("500")


def _leave_network() -> None:
    if os.geteuid() == 0:
        kernel.unshare(kernel.CLONE_NEWNET)
    else:  # whoever is root in a namespace of his own may leave the network
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)


def _something_answers() -> bool:
    """Whether any address can be reached. Connecting UDP looks for a route and sends nothing."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))
        except OSError:
            continue
        return True
    return False


def _reaches(server: int) -> bool:
    """Whether the server's environment can be read, or a signal sent to it."""
    try:
        os.kill(server, 0)
    except PermissionError:
        pass
    else:
        return True
    try:
        return bool(Path(f"/proc/{server}/environ").read_bytes())
    except OSError:
        return False


def _limit_data(megabytes: int) -> None:
    if sys.platform != "linux":
        raise OSError(f"{sys.platform} does not enforce RLIMIT_DATA")
    # What the limit counts: private writable memory, reserved or used.
    status = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmData:"))
    limit = kilobytes * 1024 + megabytes * MEGABYTE
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
