"""What MLE-bench's own code makes of the raw data of these tests: digests of its files.

`python -m tests.preparation.mle_bench.reference CHECKOUT` prints what is committed as
reference.json. CHECKOUT is a clone of github.com/openai/mle-bench at commit 783b15a; its code runs
in an environment of its own, which uv makes, with the libraries of its time.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.preparation.mle_bench.raw import RAW_DATA

LIBRARIES = [
    "pandas==2.2.3", "numpy<2.2", "scikit-learn==1.5.2", "scipy<1.15", "pyyaml", "py7zr", "tqdm",
    "appdirs", "diskcache", "python-dotenv", "levenshtein", "pillow", "nbformat", "requests",
]  # fmt: skip
PROGRAM = """
import importlib, pathlib, sys
for slug in sys.argv[2:]:
    prepare = importlib.import_module(f"mlebench.competitions.{slug}.prepare").prepare
    folder = pathlib.Path(sys.argv[1], slug)
    prepare(folder / "raw", folder / "public", folder / "private")
"""


def reference(checkout: Path) -> dict[str, dict[str, str]]:
    """The digests of the files of each competition, as MLE-bench's code prepares them."""
    with tempfile.TemporaryDirectory() as scratch:
        for slug, write in RAW_DATA.items():
            folder = Path(scratch, slug)
            for part in ("raw", "public", "private"):
                (folder / part).mkdir(parents=True)
            write(folder / "raw")
        options = [word for library in LIBRARIES for word in ("--with", library)]
        subprocess.run(
            ["uv", "run", "--no-project", "--python", "3.11", *options, "python", "-c", PROGRAM,
             scratch, *RAW_DATA],
            check=True, cwd=checkout, stdout=sys.stderr,
        )  # fmt: skip
        return {slug: digests(Path(scratch, slug)) for slug in RAW_DATA}


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of `public` and `private`; of an archive, that of its members.

    Files in a folder below have one digest together, of their names and contents.
    """
    found: dict[str, str] = {}
    for part in ("private", "public"):
        for entry in sorted((folder / part).iterdir()):
            name = f"{part}/{entry.name}"
            if entry.is_file():
                found[name] = _digest(entry)
            elif lines := [
                f"{file.relative_to(entry).as_posix()}:{_digest(file)}"
                for file in sorted(entry.rglob("*"))
                if file.is_file()
            ]:
                found[f"{name}/"] = f"{len(lines)} files {_sha256(chr(10).join(lines).encode())}"
    return found


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest(file: Path) -> str:
    if not zipfile.is_zipfile(file):
        return _sha256(file.read_bytes())
    with zipfile.ZipFile(file) as packed:
        members = {
            name: hashlib.sha256(packed.read(name)).hexdigest() for name in packed.namelist()
        }
    return "zip of " + " ".join(f"{name}:{members[name]}" for name in sorted(members))


if __name__ == "__main__":
    json.dump(reference(Path(sys.argv[1]).resolve()), sys.stdout, indent=1, sort_keys=True)
