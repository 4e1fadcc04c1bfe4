"""Give a file a second name without a second copy of its bytes, where the file system can."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

FICLONE = 0x40049409  # linux/fs.h: share the blocks of a file until one of the two is written


def share(source: Path, target: Path) -> None:
    """Make the new file `target` with the bytes of `source`: a reflink, a hard link or a copy.

    After a reflink each can change without the other; a hard link is the same file.

    Raises:
        FileExistsError: `target` is there.
    """
    if source.is_symlink():  # link(2) would link the symbolic link
        source = source.resolve()
    with source.open("rb") as old, target.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
            return
        except OSError:
            target.unlink()
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
