"""The restrictions of a grader before it reads answers, and of a job before a metric.py runs.

A grader starts in a session of its own with a clean environment, no standard streams and no other
open file (see `template.py`). A process can only apply the other restrictions to itself, and does
so here, while it has one thread: leaving the user namespace needs that. Steps that this machine
does not allow are returned, and the others are still taken.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from app.graders.walls import landlock, seccomp, syscalls
from app.python_files import python_files
from app.units import MEGABYTE

NICENESS = 5  # below the server, so that HTTP stays fast while graders are busy
OPEN_FILES = 128  # of a job; a pipe uses memory that no other limit counts
# Address space in addition to the memory that a job may take: stacks of threads, libraries.
ADDRESSES_MB = 1024


class FailedStep(NamedTuple):
    """A step in putting up a wall that this machine does not allow.

    >>> str(FailedStep("reading", "landlock", "Function not implemented"))
    'reading: landlock: Function not implemented'
    """

    wall: str
    how: str
    reason: str

    @property
    def why(self) -> str:
        """The step and the system's reason, for people."""
        return f"{self.how}: {self.reason}"

    def __str__(self) -> str:
        return f"{self.wall}: {self.why}"


def confine(parent: int, *, starts_processes: bool = False) -> list[FailedStep]:
    """Restrict a grader, permanently. It ends when `parent`, the process that started it, ends.

    `starts_processes` is for a grader that starts and restricts a process for each job.
    """
    failed: list[FailedStep] = []
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    attempt(failed, "memory", "oom_score_adj", _go_before_the_server)
    attempt(failed, "network", "unshare", _leave_namespaces)
    attempt(failed, "privileges", "capset", syscalls.drop_capabilities)
    attempt(failed, "privileges", "prctl", syscalls.gain_no_privileges)
    attempt(failed, "privileges", "prctl", syscalls.leave_no_core_dump)
    attempt(failed, "files", "landlock", lambda: landlock.restrict_files(landlock.prepare_rules()))
    attempt(failed, "orphans", "prctl", lambda: die_with(parent))
    attempt(
        failed, "processes", "seccomp",
        lambda: seccomp.Filter(
            has_channel=True, may_start_processes=starts_processes
        ).put_into_force(),
    )  # fmt: skip
    return failed


class JobWalls:
    """The walls around the jobs of one competition: prepared once, applied in each job's process.

    A job may run the competition's code. It reads only `readable` and Python's own files. Its
    address space may have `memory_mb` more than at the start of its process; None sets no limit.
    """

    def __init__(self, readable: Iterable[Path], memory_mb: int | None) -> None:
        self._failed: list[FailedStep] = []
        self._addresses: int | None = None
        self._rules: int | None = None
        self._filter: seccomp.Filter | None = None
        if memory_mb is not None:
            attempt(self._failed, "memory", "rlimit", lambda: self._measure_addresses(memory_mb))
        attempt(self._failed, "reading", "landlock", lambda: self._prepare_rules(readable))
        attempt(self._failed, "processes", "seccomp", self._prepare_filter)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The open files that a job's process needs to apply the walls."""
        return () if self._rules is None else (self._rules,)

    def close(self) -> None:
        """Close the prepared files."""
        for descriptor in self.descriptors:
            os.close(descriptor)

    def put_up(self) -> list[FailedStep]:
        """Apply the walls to this process, permanently. Returns the steps that failed.

        Raises:
            RuntimeError: the process has more than one thread; only one would be restricted.
        """
        if sys.platform == "linux" and len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
            raise RuntimeError("a job's process has a thread before it is locked in")
        _open_own_streams()
        failed = list(self._failed)
        _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        addresses = self._addresses
        if addresses is not None:
            attempt(failed, "memory", "rlimit", lambda: _limit(resource.RLIMIT_AS, addresses))
        attempt(failed, "privileges", "prctl", syscalls.gain_no_privileges)
        rules, allowed = self._rules, self._filter
        if rules is not None:
            attempt(failed, "reading", "landlock", lambda: landlock.restrict_files(rules))
        if allowed is not None:
            attempt(failed, "processes", "seccomp", allowed.put_into_force)
        return failed

    def _measure_addresses(self, memory_mb: int) -> None:
        # A second limit, of all memory together, mapped files included. It is measured here and not
        # in each job, because the processes of jobs are copies of this one.
        self._addresses = _status("VmSize") + (memory_mb + ADDRESSES_MB) * MEGABYTE

    def _prepare_rules(self, readable: Iterable[Path]) -> None:
        self._rules = landlock.prepare_rules((*python_files(), *readable))

    def _prepare_filter(self) -> None:
        self._filter = seccomp.Filter(may_open_to_write=self._rules is not None)


def limit_memory(megabytes: int) -> list[FailedStep]:
    """Limit this process to `megabytes` more than it has now; call it after the warm-up."""
    failed: list[FailedStep] = []
    attempt(failed, "memory", "rlimit", lambda: _limit_data(megabytes))
    return failed


def die_with(parent: int) -> None:
    """End when the process that started this one ends; `parent` is its process id."""
    syscalls.die_with_parent()
    if os.getppid() != parent:
        os._exit(0)  # the parent died before prctl took effect


def attempt(failed: list[FailedStep], wall: str, how: str, step: Callable[[], object]) -> bool:
    """Do a step, and add it to `failed` if it is not allowed."""
    try:
        step()
    except (OSError, ValueError) as error:
        failed.append(FailedStep(wall, how, str(error)))
        return False
    return True


def _open_own_streams() -> None:
    """Open the null device again, for the standard streams of this process only.

    The inherited streams are an open file that all jobs share, with its flags: a job could leave
    messages there for the jobs of other competitions.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.close(null)


def _go_before_the_server() -> None:
    """Make the kernel kill a grader before the server when memory runs out."""
    if sys.platform == "linux":
        Path("/proc/self/oom_score_adj").write_text("500")


def _leave_namespaces() -> None:
    """Leave the network, and the memory, semaphores and queues of System V."""
    flags = syscalls.CLONE_NEWNET | syscalls.CLONE_NEWIPC
    if os.geteuid() == 0:
        syscalls.unshare(flags)
    else:  # root of a new user namespace may leave the other namespaces
        syscalls.unshare(syscalls.CLONE_NEWUSER | flags)


def _limit_data(megabytes: int) -> None:
    if sys.platform != "linux":
        raise OSError(f"{sys.platform} does not enforce RLIMIT_DATA")
    # The limit counts private writable memory, reserved or used.
    _limit(resource.RLIMIT_DATA, _status("VmData") + megabytes * MEGABYTE)


def _limit(what: int, value: int) -> None:
    resource.setrlimit(what, (value, value))


def _status(name: str) -> int:
    """A size of this process in bytes, from /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
