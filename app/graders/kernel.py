"""The few system calls that Python has no function for. Linux only; elsewhere they raise OSError.

Sources: the manual pages prctl(2), unshare(2), capset(2), landlock(7), seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import sys

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITIES_VERSION_3 = 0x20080522
_CAP_DAC_READ_SEARCH = 2

_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_LANDLOCK_ASK_VERSION = 1
_LANDLOCK_RULE_PATH_BENEATH = 1
# The file rights of Landlock by bit, and the version of its interface that each came with.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE}
_TCP_BIND_AND_CONNECT = 0b11  # since version 4
_SCOPE_SOCKETS_AND_SIGNALS = 0b11  # since version 6

_CLONE_THREAD = 0x00010000
_X32_CALLS = 0x40000000  # x86-64's second table of system calls begins here
# Per machine: its number for seccomp, then socket, io_uring_setup, clone3, clone, and its forks.
_MACHINES = {
    "x86_64": (0xC000003E, 41, 425, 435, 56, (57, 58)),
    "aarch64": (0xC00000B7, 198, 425, 435, 220, ()),
}


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("jump_true", ctypes.c_uint8),
        ("jump_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_uint16),
        ("instructions", ctypes.POINTER(_Instruction)),
    ]


def unshare(flags: int) -> None:
    """Leave namespaces that were shared with the parent; single-threaded for CLONE_NEWUSER."""
    _checked(_libc().unshare(ctypes.c_int(flags)))


def gain_no_privileges() -> None:
    """Give up, for good, what set-uid programs would grant."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up root's powers, but for reading whatever files the server may read."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0)
    kept = 1 << _CAP_DAC_READ_SEARCH if os.geteuid() == 0 else 0
    data = (ctypes.c_uint32 * 6)(kept, kept)  # effective, permitted, inheritable; twice 32 of each
    _checked(_libc().capset(ctypes.byref(header), ctypes.byref(data)))


def die_with_parent() -> None:
    """Be killed when the thread that started this process ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def landlock() -> int:
    """Give up writing, making and removing files, and running programs; gives Landlock's version.

    From version 4 on also TCP, from version 6 on signals to and sockets of processes outside. All
    versions keep this process from reading another's memory and environment.
    """
    version = _checked(_syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_ASK_VERSION))
    rights = sum(bits for since, bits in _FILE_RIGHTS.items() if since <= version)
    ruleset = _Ruleset(rights & ~(_READ_FILE | _READ_DIR))
    size = 8
    if version >= 4:
        ruleset.handled_access_net, size = _TCP_BIND_AND_CONNECT, 16
    if version >= 6:
        ruleset.scoped, size = _SCOPE_SOCKETS_AND_SIGNALS, 24
    handle = _checked(_syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(ruleset), size, 0))
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writable = _PathBeneath(ruleset.handled_access_fs & (_WRITE_FILE | _TRUNCATE), null)
        _checked(
            _syscall(
                _LANDLOCK_ADD_RULE, handle, _LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(writable), 0
            )
        )
        _checked(_syscall(_LANDLOCK_RESTRICT_SELF, handle, 0))
    finally:
        os.close(null)
        os.close(handle)
    return version


def refuse_sockets_and_processes() -> None:
    """From now on no new socket can be made and no process started; threads can."""
    machine = platform.machine()
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {machine}")
    architecture, socket, io_uring, clone3, clone, forks = _MACHINES[machine]
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, not_there = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
    steps = [
        (load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, refuse),
        (load, 0, 0, 0), (at_least, 0, 1, _X32_CALLS), (give, 0, 0, refuse),
        # The C library makes threads with clone3, and with clone where clone3 is not there. Only
        # clone's flags can be seen from here.
        (equal, 0, 1, clone3), (give, 0, 0, not_there),
    ]  # fmt: skip
    for number in (socket, io_uring, *forks):
        steps += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    steps += [
        (equal, 0, 3, clone), (load, 0, 0, 16), (any_bit, 1, 0, _CLONE_THREAD),
        (give, 0, 0, refuse), (give, 0, 0, allow),
    ]  # fmt: skip
    instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), instructions)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def give_back_memory() -> None:
    """Return to the system what was freed. Only glibc has a call for it: malloc_trim(3)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, f"{sys.platform} has no such system call")
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, *arguments: int) -> None:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    _checked(_libc().prctl(ctypes.c_int(option), *(ctypes.c_ulong(a) for a in padded)))


def _syscall(number: int, *arguments: object) -> int:
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = _libc().syscall(ctypes.c_long(number), *wide)
    return result


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
