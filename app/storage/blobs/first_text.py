"""A small file that the first process writes, and that all others read."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from app.storage.blobs.sync import sync_directory


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
        sync_directory(file.parent)
        return file.read_text(errors="replace").strip()
