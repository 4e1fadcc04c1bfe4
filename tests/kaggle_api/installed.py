"""The real clients, each in an environment of its own, installed once from pinned files."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

PINNED = Path(__file__).parent / "clients"
HOME = Path(__file__).parents[2] / ".venv" / "clients"  # beside what the tests run in, and ignored


def installed(client: str) -> Path:
    """The `bin` directory of the environment of `kaggle-2.2.4` and its like."""
    pinned = PINNED / f"{client}.txt"
    mark = hashlib.sha256(pinned.read_bytes() + sys.version.encode()).hexdigest()[:16]
    place = HOME / f"{client}-{mark}"
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / f"{client}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests run in several processes
        if not (place / "whole").is_file():
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run(
                [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check",
                 "--require-hashes", "-r", str(pinned)],
                check=True, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            )  # fmt: skip
            (place / "whole").touch()
    return place / "bin"
