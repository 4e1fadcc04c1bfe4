"""Leases: files and directories on this machine that are not removed while they are in use."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Self


class Lease:
    """`path` is not removed until the lease is closed or garbage-collected.

    `descriptor`, if given, has the lock that keeps other processes from removing the path.
    """

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self._descriptor = descriptor

    def close(self) -> None:
        """End the lease. May be called twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.close()
