"""A small file that the first process writes, and that all others read."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from app.errors import CannotStart
from app.regular_file import read_regular
from app.sync_directory import sync_directory
from app.system_limits import is_used_up


def keep_first_text(file: Path, text: str) -> str:
    """The text of a file. If there is no such file, it is made with `text`, durably.

    A crash of the machine must not leave an empty file, which would then be kept for ever.

    Raises:
        CannotStart: something is there that cannot be read.
    """
    try:
        return _read(file)
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
        sync_directory(file.parent)
    try:
        return _read(file)
    except FileNotFoundError as error:  # a link whose target is missing
        raise _unreadable(file, error) from None


def _read(file: Path) -> str:
    try:
        return read_regular(file).decode(errors="replace").strip()
    except FileNotFoundError:
        raise
    except OSError as error:
        if is_used_up(error):
            raise  # this says nothing about the file
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: OSError) -> CannotStart:
    return CannotStart(
        f"{file} cannot be read: {error.strerror}. Podium wrote it when this directory was new, "
        "and nothing changes it since. Correct its permissions, or put it back from a copy."
    )
