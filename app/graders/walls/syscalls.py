"""System calls that Python has no function for. Linux only; elsewhere they raise OSError.

Sources: the manual pages prctl(2), unshare(2), capget(2), malloc_trim(3).
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from functools import cache

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
CLONE_NEWIPC = 0x08000000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITIES_VERSION_3 = 0x20080522
_CAP_DAC_READ_SEARCH = 2


def unshare(flags: int) -> None:
    """Leave namespaces that were shared with the parent; single-threaded for CLONE_NEWUSER."""
    checked(libc().unshare(ctypes.c_int(flags)))


def gain_no_privileges() -> None:
    """Give up the privileges of set-uid programs, permanently."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def leave_no_core_dump() -> None:
    """Write no core dump, not even to the program in /proc/sys/kernel/core_pattern.

    Limits of the size of core dumps do not apply to such a program. Copies of this process write
    none either, and other processes of the same user cannot read its memory.
    """
    prctl(_PR_SET_DUMPABLE, 0)


def drop_capabilities() -> None:
    """Give up every capability; root keeps the one to read files, if it has it.

    Root in a container often has only some capabilities. A request that includes one that is not
    permitted fails completely, so only permitted ones are requested.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 of each
    checked(libc().capget(ctypes.byref(header), ctypes.byref(data)))
    kept = data[1] & (1 << _CAP_DAC_READ_SEARCH) if os.geteuid() == 0 else 0
    data = (ctypes.c_uint32 * 6)(kept, kept)
    checked(libc().capset(ctypes.byref(header), ctypes.byref(data)))


def die_with_parent() -> None:
    """Be killed when the thread that started this process ends."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def give_back_memory() -> None:
    """Return freed memory to the system. Only glibc has a function for it: malloc_trim(3)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


@cache
def libc() -> ctypes.CDLL:
    """The C library.

    Raises:
        OSError: this is not Linux.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, f"{sys.platform} has no such system call")
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *arguments: int) -> None:
    """Change a setting of this process: see the manual page of the same name."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    checked(libc().prctl(ctypes.c_int(option), *(ctypes.c_ulong(a) for a in padded)))


def syscall(number: int, *arguments: object) -> int:
    """Call a system call by its number. Returns -1 and sets errno on failure."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc().syscall(ctypes.c_long(number), *wide)
    return result


def checked(result: int) -> int:
    """Return the result of a call.

    Raises:
        OSError: the result is negative; the error is that of errno.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
