"""Errors that say that a resource of the system is used up: memory, open files, a disk."""

from __future__ import annotations

import errno

# Limits of a process, a container or the machine; EAGAIN is fork(2) at a limit of processes.
USED_UP = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # a disk, a quota, a file's limit
NO_ROOM_FOR_LIBRARY = "failed to map segment from shared object"  # dlopen(3), for too little memory


def is_used_up(error: BaseException) -> bool:
    """Whether open files, processes, threads or memory were used up.

    >>> is_used_up(OSError(errno.EMFILE, "Too many open files")), is_used_up(OSError(errno.EIO, ""))
    (True, False)
    """
    if isinstance(error, OSError):
        return error.errno in USED_UP
    if isinstance(error, ImportError):
        return NO_ROOM_FOR_LIBRARY in str(error)
    # Python raises a plain RuntimeError when no thread can be started.
    return isinstance(error, MemoryError) or str(error) == "can't start new thread"


def is_disk_full(error: BaseException) -> bool:
    """Whether a disk, a quota or the limit of a file's size leaves no room.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left")), is_disk_full(OSError(errno.EIO, ""))
    (True, False)
    """
    return isinstance(error, OSError) and error.errno in DISK_FULL
