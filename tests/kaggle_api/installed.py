"""The real clients, each in an environment of its own, installed once from pinned files."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.forked_python import ForkedPython

PINNED = Path(__file__).parent / "clients"
UV = Path(sys.executable).with_name("uv")  # pip takes 5 s of processor time for each client
HOME = Path(__file__).parents[2] / ".venv" / "clients"  # beside what the tests run in, and ignored

# What the clients import beside `kaggle` itself, which reads the environment when it is imported.
LIBRARIES = (
    "argparse", "bleach", "csv", "dateutil.parser", "dateutil.tz", "http.client", "mimetypes",
    "pprint", "requests", "slugify", "tarfile", "tqdm", "unittest.mock", "zipfile",
)  # fmt: skip
LATER = ("google.protobuf.field_mask_pb2", "kagglesdk.kaggle_client", "packaging.version")
LOADED = {
    "kaggle-1.5.16": LIBRARIES,
    "kaggle-1.6.17": LIBRARIES,
    "kaggle-1.7.4.5": (*LIBRARIES, "kagglesdk.kaggle_client"),
    "kagglehub-1.0.3": (
        "requests",
        "tarfile",
        "tqdm.contrib.concurrent",
        "kagglesdk.kaggle_client",
        "yaml",
    ),
}


@functools.cache
def forked(client: str) -> ForkedPython:
    """The Python of a client, which has loaded its libraries."""
    return ForkedPython(installed(client) / "python", *LOADED.get(client, (*LIBRARIES, *LATER)))


def installed(client: str) -> Path:
    """The `bin` directory of the environment of `kaggle-2.2.5` and its like."""
    pinned = PINNED / f"{client}.txt"
    mark = hashlib.sha256(pinned.read_bytes() + sys.version.encode()).hexdigest()[:16]
    place = HOME / f"{client}-{mark}"
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / f"{client}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests run in several processes
        if not (place / "whole").is_file():
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, place], check=True)
            subprocess.run(
                [UV, "pip", "install", "--quiet", "--system-certs", "--require-hashes",
                 "--python", place / "bin" / "python", "-r", pinned],
                check=True, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            )  # fmt: skip
            (place / "whole").touch()
    return place / "bin"
