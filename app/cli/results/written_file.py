"""Write a result into the file that an option names, completely or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

from app.errors import Invalid


def write_file(option: str, file: Path, data: bytes) -> None:
    """Write `data` into `file`, which `option` names. If that fails, the file does not change.

    Raises:
        Invalid: the file cannot be written; says why.
    """
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(data)  # a pipe or a device, which is not replaced
            return
        real = Path(os.path.realpath(file))  # `resolve` raises an error for a loop before 3.13
        if real.is_symlink():
            raise Invalid(f"{option}: {file} cannot be written: a symbolic link leads to itself.")
        _replace(real, data)
    except OSError as error:
        raise Invalid(f"{option}: {file} cannot be written: {error.strerror}.") from None


def _replace(file: Path, data: bytes) -> None:
    partial = file.with_name(f".{uuid.uuid4().hex}.partial")
    try:
        partial.write_bytes(data)
        if file.exists():
            shutil.copymode(file, partial)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
