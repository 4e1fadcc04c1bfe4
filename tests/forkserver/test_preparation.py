"""A forked prepare.py is to its command what a started one is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.forkserver import PodiumProcess

BIKE = Path(__file__).parents[2] / "competitions" / "bike-sharing-demand"
TELLS = """
import json, os, sys
def prepare(raw, public, private):
    facts = {
        "parent": os.getppid(), "directory": os.getcwd(), "writes": sys.dont_write_bytecode,
        "settings": [name for name in os.environ if name.startswith(("PODIUM", "KAGGLE"))],
        "files": sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in (0, 1)),
        "raw": os.listdir(raw),
    }
    (raw / "facts.json").write_text(json.dumps(facts))
    raise RuntimeError("mine")
"""


def test_it_is_a_child_of_its_command_without_its_settings(tmp_path: Path) -> None:
    folder = tmp_path / "competitions" / BIKE.name
    shutil.copytree(BIKE, folder, ignore=shutil.ignore_patterns("public", "private"))
    (folder / "prepare.py").write_text(TELLS)
    raw = tmp_path / "raw" / BIKE.name
    raw.mkdir(parents=True)
    environment = {
        **os.environ, "PODIUM_DATA_DIR": str(tmp_path / "data"), "KAGGLE_KEY": "secret",
        "PODIUM_COMPETITIONS_DIR": str(folder.parent),
    }  # fmt: skip

    command = PodiumProcess(
        ["prepare", BIKE.name, "--raw", str(raw.parent)], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    _, errors = command.communicate()

    facts = json.loads((raw / "facts.json").read_text())
    assert facts.pop("directory").startswith(str(tmp_path / "data"))
    assert facts == {
        "parent": command.pid, "writes": True, "settings": [], "files": [os.devnull] * 2, "raw": [],
    }  # fmt: skip
    assert command.returncode == 1
    assert errors.splitlines()[-1].endswith("RuntimeError: mine")
