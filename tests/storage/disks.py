"""A small file system that tests can fill."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(path: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of this size mounted at `path`; needs root."""
    path.mkdir()
    options = f"size={kilobytes}k,mode=0700"
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], capture_output=True
        ).returncode
    ):
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def fill(directory: Path) -> Path:
    """Fill the disk. Returns the file to remove to free the space again."""
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (65536, 4096, 512, 1):
            with contextlib.suppress(OSError):
                while file.write(b"\0" * size):
                    pass
    return ballast


def unreadable_file() -> Path:
    """A file that opens, and whose 4096 bytes end in EIO, as those of a broken disk do."""
    # The kernel's answer for a device that does not suspend by itself.
    for path in sorted(Path("/sys/devices/platform").glob("**/power/autosuspend_delay_ms")):
        try:
            path.read_bytes()
        except OSError as error:
            if error.errno == errno.EIO and path.stat().st_size == 4096:
                return path
    pytest.skip("this machine has no file that cannot be read")
