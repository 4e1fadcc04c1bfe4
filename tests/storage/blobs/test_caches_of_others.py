"""A cache beside processes that start, sweep and end on the same data directory."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from app.storage.blobs.cache import FileCache
from tests.storage.blobs.test_sweeps import calling_first


@pytest.mark.parametrize(("what", "name"), [(os, "open"), (fcntl, "flock")], ids=["open", "lock"])
def test_caches_are_opened_while_another_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: Any, name: str
) -> None:
    starting = FileCache(tmp_path, 1 << 20)
    moments = [lambda: starting.sweep()]

    with monkeypatch.context() as patched:
        calling_first(patched, what, name, lambda: moments and moments.pop()())
        cache = FileCache(tmp_path, 1 << 20)

    assert not moments
    starting.sweep()
    with cache.get("kind/ab/cd", lambda target: target.write_bytes(b"x") and None) as lease:
        assert lease.path.read_bytes() == b"x"
    cache.close()
    starting.close()


def test_a_cache_is_measured_while_another_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`podium gc` and a server's own collector open and close the cache of a living server."""
    cache, ending = FileCache(tmp_path, 1 << 20), FileCache(tmp_path, 1 << 20)
    (directory,) = set((tmp_path / "making").iterdir()) - {cache.partial}
    list_directory = os.scandir

    def end_before_it_is_listed(path: Any) -> Any:
        if path == directory or path == str(directory):
            directory.rmdir()  # what `close` does first
        return list_directory(path)

    (tmp_path / "file").write_bytes(b"x")
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", end_before_it_is_listed)
        cache.add("kind/ab/cd", tmp_path / "file")
        assert cache.bytes() > 0

    ending.close()
    cache.close()
