"""A small file that the first process writes, and that all others read."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def keep_first_text(file: Path, text: str) -> str:
    """The text of a file. If there is no such file, it is made with `text`, durably.

    A crash of the machine must not leave an empty file, which would then be the first for ever.
    """
    try:
        return file.read_text(errors="replace").strip()
    except FileNotFoundError:
        partial = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
        try:
            with partial.open("x") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.link(partial, file)  # fails if another process has written the file
        except FileExistsError:
            pass
        finally:
            partial.unlink(missing_ok=True)
        _sync_names(file.parent)
        return file.read_text(errors="replace").strip()


def _sync_names(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
