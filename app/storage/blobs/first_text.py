"""A small file that the first process writes, and that all others read."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def keep_first_text(file: Path, text: str) -> str:
    """The text of a file. If there is no such file, it is made with `text`."""
    try:
        return file.read_text(errors="replace").strip()
    except FileNotFoundError:
        partial = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
        partial.write_text(text)
        try:
            os.link(partial, file)  # fails if another process has written the file
        except FileExistsError:
            pass
        finally:
            partial.unlink()
        return file.read_text(errors="replace").strip()
