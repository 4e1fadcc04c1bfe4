"""Give a stored file another name: by a hard link where the file system allows it, or by a copy."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from app.units import CHUNK_BYTES

NO_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES})


def link_or_copy(file: Path, target: Path) -> None:
    """Make `target` a hard link to a file that never changes, or else a synced copy.

    It is also copied if another process replaces it by the same bytes at this moment: then Linux
    may have looked up the old file, which is removed already, and reports that it does not exist.
    """
    try:
        os.link(file, target)
    except OSError as error:
        if error.errno not in NO_LINK | {errno.ENOENT}:  # a copy reports a missing file
            raise
        with file.open("rb") as source, target.open("xb") as out:
            while chunk := source.read(CHUNK_BYTES):
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())


def replace_by_link(file: Path, target: Path, temporary: Path) -> bool:
    """Make `target` a read-only hard link to a file, replacing what was there.

    `temporary` is a name in a directory whose unlocked files may be swept. Returns whether the
    file system allows links.
    """
    with file.open("rb") as source:
        fcntl.flock(source, fcntl.LOCK_SH)  # both names are of one file, so none is swept
        try:
            os.link(file, temporary)
        except OSError as error:
            if error.errno not in NO_LINK:
                raise
            return False
        try:
            temporary.chmod(0o440)
            os.utime(temporary)
            temporary.rename(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    return True
