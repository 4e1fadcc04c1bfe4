"""Give a file a second name without copying its bytes, if the file system supports it."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from pathlib import Path

FICLONE = 0x40049409  # linux/fs.h: share the blocks of a file until one of the two is written
NO_REFLINKS = (errno.EOPNOTSUPP, errno.ENOTTY)  # the errors of file systems without reflinks
_without_reflinks: set[int] = set()  # numbers of devices; competitions have 100,000 files on one


def share(source: Path, target: Path) -> None:
    """Make the new file `target` with the bytes of `source`: a reflink, a hard link or a copy.

    After a reflink each can change without the other; a hard link is the same file.

    Raises:
        FileExistsError: `target` is there.
    """
    if source.is_symlink():  # link(2) would link the symbolic link
        source = source.resolve()
    device = os.stat(target.parent).st_dev  # noqa: PTH116 (pathlib takes as long again)
    if device not in _without_reflinks and _reflink(source, target, device):
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copyfile(source, target)


def _reflink(source: Path, target: Path, device: int) -> bool:
    """Whether the new file shares the blocks of `source`; otherwise there is no new file."""
    with source.open("rb") as old, target.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
        except OSError as error:
            if error.errno in NO_REFLINKS:
                _without_reflinks.add(device)
            target.unlink()
            return False
    return True
