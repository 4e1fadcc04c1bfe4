"""The program that runs a prepare.py: FILE RAW PUBLIC PRIVATE, and options.

It is a separate process, because a prepare.py may use much memory and import anything. It ends when
the process that started it ends.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from app.preparation.raw_files import RawFiles

ORPHANED = 70  # the exit status of a process whose parent has ended


def main(
    file: Path,
    raw: Path,
    public: Path,
    private: Path,
    *,
    grading_only: bool = False,
    fetch: Callable[[str], None] | None = None,
) -> None:
    """Call the function `prepare_files` of a prepare.py, or `prepare` if it has none.

    `prepare_files` reads `RawFiles`, an archive too; `prepare` gets the folder of the raw files.
    `fetch` is called with the name of each file of the archive before it is read.
    """
    spec = importlib.util.spec_from_file_location("prepare", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle find a class's module by its name
    spec.loader.exec_module(module)
    if hasattr(module, "prepare_files"):
        with RawFiles(raw, grading_only=grading_only, fetch=fetch) as files:
            module.prepare_files(files, public, private)
    else:
        module.prepare(raw, public, private)


class Parent:
    """The socket to the parent process, which fetches files. If it closes, this process ends."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.set_inheritable(False)  # a program that prepare.py starts may outlive it
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def fetch(self, name: str) -> None:
        """Ask for a member of the archive, and wait until it is there."""
        self._socket.sendall(name.encode() + b"\0")
        self._answers.get()

    def _listen(self) -> None:
        try:
            while answer := self._socket.recv(1):
                self._answers.put(answer)
        finally:  # an error also means that it ended, with a request that it had not read
            os._exit(ORPHANED)


def run() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser()
    for name in ("file", "raw", "public", "private"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--grading-only", action="store_true")
    parser.add_argument("--parent", type=int)
    parser.add_argument("--asks", action="store_true")
    given = parser.parse_args()
    parent = None if given.parent is None else Parent(given.parent)
    main(
        given.file, given.raw, given.public, given.private, grading_only=given.grading_only,
        fetch=parent.fetch if parent is not None and given.asks else None,
    )  # fmt: skip


if __name__ == "__main__":
    run()
