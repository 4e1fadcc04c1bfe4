"""Temporary directories outlive the start of a server, and not the process that has them."""

from __future__ import annotations

import os
from pathlib import Path

from app.services.runtime.context import lock_data_directory
from app.services.runtime.scratch import FOLDER, ScratchDirectories


def start_a_server(data: Path) -> None:
    os.close(lock_data_directory(data))


def test_a_server_that_starts_removes_only_what_nobody_has(tmp_path: Path) -> None:
    root = tmp_path / FOLDER
    scratches = ScratchDirectories(root)
    used, removed = scratches.new(), scratches.new()
    (used / "staged").mkdir()
    (used / "staged" / "answers.csv").write_text("id")
    removed.rmdir()
    (root / "left" / "staged").mkdir(parents=True)
    (root / "left" / "staged" / "file").write_text("x")
    (root / "upload").write_text("x")
    (root / "link").symlink_to(tmp_path)

    start_a_server(tmp_path)

    assert {path.name for path in root.iterdir()} == {used.name}
    assert (used / "staged" / "answers.csv").read_text() == "id"
    opened = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    scratches.new().rmdir()
    assert len(os.listdir("/proc/self/fd")) == opened  # noqa: PTH208
    scratches.close()
    start_a_server(tmp_path)
    assert [path.name for path in root.iterdir()] == []
