"""What the filter of system calls answers, read from its steps: the kernel would run the same."""

from __future__ import annotations

import errno
import os
import platform
import struct

import pytest

from app.graders.walls.seccomp import Filter

X86, ARM, I386 = 0xC000003E, 0xC00000B7, 0x40000003
X32_BIT = 0x40000000
ALLOWED, REFUSED = 0x7FFF0000, 0x00050000 | errno.EPERM
OWN = 0xFFFFFFFE  # stands for the id of the process that applies the filter
# Numbers of x86-64: read, mmap, ioctl, fcntl, prctl, prlimit64, kill, tgkill, clone, clone3.
READ, MMAP, IOCTL, FCNTL, PRCTL = 0, 9, 16, 72, 157
PRLIMIT, KILL, TGKILL, CLONE, CLONE3 = 302, 62, 234, 56, 435


def answer(rules: Filter, number: int, *arguments: int, architecture: int = X86) -> int:
    """The value that the filter returns for a system call, as seccomp(2) describes its steps."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    call = struct.pack("<IIQ6Q", number, architecture, 0, *(a % 2**64 for a in padded))
    value = at = 0
    while True:
        # The kernel takes the steps and gives none back.
        step = rules._steps[at]  # noqa: SLF001
        at += 1
        match step.code:
            case 0x20:
                (value,) = struct.unpack_from("<I", call, step.operand)
            case 0x54:
                value &= step.operand
            case 0x15:
                at += step.jump_true if value == step.operand else step.jump_false
            case 0x45:
                at += step.jump_true if value & step.operand else step.jump_false
            case 0x06:
                return int(step.operand)
            case code:
                pytest.fail(f"an unknown step {code:#x}")


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Filter:
    """The filter of a job, as on x86-64."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return Filter()


def test_another_architectures_calls_are_refused(job: Filter) -> None:
    """`int 0x80` has the numbers of i386, by which 64-bit `mprotect` is `unlink`."""
    assert answer(job, READ) == ALLOWED
    for number in range(600):
        assert answer(job, number, architecture=I386) == REFUSED
        assert answer(job, number, architecture=ARM) == REFUSED
        assert answer(job, number | X32_BIT) == REFUSED
        assert answer(job, number + 1024) == REFUSED


@pytest.mark.parametrize(
    ("number", "at", "allowed"),
    [
        (IOCTL, 1, {0x5450, 0x5451, 0x5421, 0x541B, 0x5401, 0x5413}),
        (FCNTL, 1, {0, 1, 2, 3, 4, 1030, 1032}),  # among the others are locks and F_SETPIPE_SZ
        (PRCTL, 0, {15, 16}),
        (PRLIMIT, 0, {0, OWN}),
        (KILL, 0, {OWN}),
        (TGKILL, 0, {OWN}),
    ],
)
def test_only_listed_values_of_an_argument_are_allowed(
    job: Filter, number: int, at: int, allowed: set[int]
) -> None:
    # Terminals, devices and sockets have their ioctls here: TIOCSTI, TIOCLINUX, FIOSETOWN, SIOC...
    odd = {1 << bit for bit in range(32)} | {2**32 - 1, 2**31 - 1, os.getppid(), 0x541C, 0x5452}
    for value in {*range(2048), *range(0x5400, 0x5480), *range(0x8900, 0x89FF), *odd, *allowed}:
        expected = ALLOWED if value in allowed else REFUSED
        assert answer(job, number, *[0] * at, value) == expected, value


def test_memory_that_no_limit_counts_is_refused(job: Filter) -> None:
    private, shared, fixed, anonymous, growing = 0x02, 0x01, 0x10, 0x20, 0x100
    for flags in (shared, private, private | anonymous, private | anonymous | fixed):
        assert answer(job, MMAP, 0, 4096, 3, flags) == ALLOWED
    for flags in (shared | anonymous, shared | anonymous | fixed, 0x03 | anonymous,
                  private | anonymous | growing, private | growing):  # fmt: skip
        assert answer(job, MMAP, 0, 4096, 3, flags) == REFUSED


def test_threads_alone_are_started(job: Filter) -> None:
    thread, files, signal = 0x10000, 0x400, 17
    assert answer(job, CLONE, 0x3D0F00) == ALLOWED  # the flags of pthread_create(3)
    assert 0x3D0F00 & thread
    for flags in (signal, 0x4111, 0x3D0F00 & ~thread, 0x3D0F00 & ~files, 0x10000000 | signal):
        assert answer(job, CLONE, flags) == REFUSED
    assert answer(job, CLONE3) == 0x00050000 | errno.ENOSYS


def test_only_parents_of_jobs_start_processes_and_only_graders_have_a_channel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    job, grader, parent = Filter(), Filter(has_channel=True), Filter(may_start_processes=True)
    sendto, fork, setscheduler, sendmsg, socket, execve = 44, 57, 144, 46, 41, 59
    for number, allowing in (
        (sendto, {grader}), (fork, {parent}), (setscheduler, {parent}), (sendmsg, {parent}),
        (socket, set()), (execve, set()),
    ):  # fmt: skip
        found = {one for one in (job, grader, parent) if answer(one, number) == ALLOWED}
        assert found == allowing, number
