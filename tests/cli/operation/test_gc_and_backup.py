"""What `podium gc`, `backup` and `restore --check` say of files and rows."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from tests.cli.conftest import Command

REST = "ab" * 31  # of a digest whose first two digits name the directory
HOURS = 3600


def test_files_without_a_row_are_listed_and_removed_only_if_asked(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    assert podium("import", "folder", tiny).returncode == 0
    stray = tmp_path / "data" / "blobs" / "ab" / REST
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"a" * 3 * 2**19)
    then = time.time() - 50 * HOURS
    os.utime(stray, (then, then))
    none = "0 files of 0.0 MB would be removed (--delete removes them)\n"

    line, told = podium("gc").stdout.splitlines()
    assert REST in line
    assert line.endswith(f" {3 * 2**19} bytes")
    assert told == "1 file of 1.5 MB would be removed (--delete removes them)"
    assert podium("gc", "--older-than", "100").stdout == none
    assert podium("gc", "--older-than", "0.5").returncode == 2
    document = json.loads(podium("gc", "--json").stdout)
    assert (document["deleted"], document["bytes"]) == (False, 3 * 2**19)
    assert stray.exists()

    document = json.loads(podium("gc", "--delete", "--older-than", "49", "--json").stdout)
    assert (document["deleted"], len(document["files"])) == (True, 1)
    assert not stray.exists()
    assert podium("gc").stdout == none
    stray.write_bytes(b"a")
    os.utime(stray, (then, then))
    assert podium("gc", "--delete").stdout.endswith("1 file of 0.0 MB removed\n")


def test_a_backup_and_its_check_name_the_same_rows_files_and_bytes(
    podium: Command, tiny: Path, tmp_path: Path
) -> None:
    assert podium("import", "folder", tiny).returncode == 0
    folder = tmp_path / "backup"
    made = json.loads(podium("backup", folder, "--json").stdout)
    files = [file for file in (tmp_path / "data" / "blobs").rglob("*") if file.is_file()]
    names = {file.name: file.stat().st_size for file in files if len(file.name) == 62}

    assert (made["files"], made["bytes"]) == (len(names), sum(names.values()))
    assert made["rows"]["competition_version"] == 1
    assert json.loads(podium("restore", "--check", folder, "--json").stdout) == made
    told = podium("restore", "--check", folder).stdout
    assert told.startswith(f"{folder} is complete: of {made['made_at']}, 0 submissions, 0 grades, ")
    assert f" rows in all, {len(names)} files of {sum(names.values())} bytes" in told
