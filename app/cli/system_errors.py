"""Errors of the system and the database that a command can explain: full disks, outages, damage."""

from __future__ import annotations

import errno
import sys

from app.errors import BadSettings, DamagedRow, Invalid, PodiumError, StorageFull, Unavailable
from app.storage.database.errors import is_damage, is_full, is_outage
from app.system_limits import is_used_up

# Errors of a path that the user named, not of Podium.
PATHS = frozenset({
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR,
    errno.EISDIR, errno.EEXIST,
})  # fmt: skip

# Errors of a broken disk, or of one over a network.
DISKS = frozenset({errno.EIO, errno.ESTALE})

NO_TEMPORARY = "No usable temporary directory"  # as `tempfile` says it


def in_words(error: Exception) -> PodiumError | None:
    """The error as one of Podium's, which says what to do; None for a defect of Podium."""
    if is_full(error):
        return StorageFull(
            f"{_reason(error)}{_place(error)}. The command stopped before its end: free space "
            "there, and run it again."
        )
    if is_outage(error):
        return Unavailable(
            f"The database (PODIUM_DATABASE_URL) cannot be used: {_reason(error)}. The command "
            "stopped before its end: run it again when the database answers."
        )
    if is_damage(error):
        # Imported here, because most commands do not need it.
        from app.services.operations.start_checks import DamagedDatabase

        return DamagedDatabase(DamagedRow(_reason(error)).detail)
    if is_used_up(error):
        return Unavailable(
            "The system gives this process no more memory, threads or open files: "
            f"{_reason(error) or 'out of memory'}. The command stopped before its end: raise the "
            "limit (`ulimit -a` lists the limits of a process), and run it again."
        )
    if isinstance(error, FileNotFoundError) and NO_TEMPORARY in str(error.strerror):
        return BadSettings(
            f"{error.strerror}. The command stopped before its end: set TMPDIR to a directory that "
            "this user can write, and run it again."
        )
    if isinstance(error, OSError) and error.errno in PATHS and error.filename:
        return Invalid(
            f"{_reason(error)}. The command stopped before its end: correct the path or its "
            "permissions, and run it again."
        )
    if isinstance(error, OSError) and error.errno in DISKS:
        return Unavailable(
            f"{_reason(error)}: a disk cannot be read or written, or the connection to it is lost "
            "(`dmesg` may say which). The command stopped before its end: mend that, or use a "
            "copy of the files on another disk, and run it again."
        )
    if isinstance(error, UnicodeEncodeError):
        # The unwritten text may be a complete record that contains an argument of the command.
        part = error.object[error.start : error.end]
        for word in sys.argv:
            if part in word:
                return Invalid(f"{word[:80]!a} is not text in UTF-8: correct the command.")
    return None


def _place(error: Exception) -> str:
    """Where the full disk may be if the error of a write to an open file does not name it."""
    if not isinstance(error, OSError):
        return " (PODIUM_DATABASE_URL)"
    if error.filename:
        return ""
    return (
        ", on a disk that the command writes to: that of its output, of PODIUM_DATA_DIR or of "
        "temporary files (TMPDIR); `df` says which"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        # For a copy, the second name is the file that was written.
        name = error.filename2 or error.filename
        return f"{error.strerror}: {name}" if name else f"{error.strerror}"
    return " ".join(str(getattr(error, "orig", None) or error).split())
