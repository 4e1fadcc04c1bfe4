"""Leases: files and directories on this machine that stay while somebody uses them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class Lease:
    """`path` stays where it is until the lease is closed; at the latest when it is forgotten.

    `descriptor`, if any, holds the lock that keeps others from removing it.
    """

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self._descriptor = descriptor

    def close(self) -> None:
        """Let it go. May be called twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.close()
