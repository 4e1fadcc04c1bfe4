"""`podium import folder` and `archive`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path

from tests.api.conftest import packed
from tests.cli.conftest import Command
from tests.factories import write_submission


def test_folders_and_archives_are_imported_once(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    archive = write_submission(tmp_path / "tiny.tar.gz", packed(tiny))

    first = podium("import", "folder", tiny)
    again = podium("import", "archive", archive, "--json")

    assert "tiny imported as version 1 (ready)" in first.stdout
    assert json.loads(again.stdout)[0] | {"lint": []} == {
        "slug": "tiny", "version": 1, "created": False, "status": "ready", "lint": []
    }  # fmt: skip


def test_a_folder_with_mistakes_is_told_file_and_key(podium: Command, tiny: Path) -> None:
    toml = (tiny / "competition.toml").read_text()
    (tiny / "competition.toml").write_text(toml.replace("version = 1", 'version = "one"\nx = 1'))

    done = podium("import", "folder", tiny)

    assert done.returncode == 1
    assert "competition.toml: version: " in done.stderr
    assert "competition.toml: x: unknown key" in done.stderr


def test_a_folder_of_a_thousand_folders_is_told(podium: Command, tiny: Path) -> None:
    with contextlib.chdir(tiny / "public"):
        for _ in range(1_500):  # deeper than Python calls itself
            Path("d").mkdir()
            os.chdir("d")
    try:
        done = podium("import", "folder", tiny)
    finally:
        subprocess.run(["rm", "-rf", str(tiny / "public")], check=True)  # rmtree calls itself too

    assert done.returncode == 1
    assert "the path is longer than 200 characters" in done.stderr
