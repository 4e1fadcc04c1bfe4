"""Digests of the files that MLE-bench's own code makes of the raw data of these tests.

`python -m tests.preparation.mle_bench.reference CHECKOUT` prints what is committed as
reference.json. CHECKOUT is a clone of github.com/openai/mle-bench at commit 783b15a; its code runs
in an environment of its own, which uv makes, with the libraries of its time.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import py7zr

from tests.preparation.mle_bench.raw import RAW_DATA

LIBRARIES = [
    "pandas==2.2.3", "numpy<2.2", "scikit-learn==1.5.2", "scipy<1.15", "pyyaml", "py7zr", "tqdm",
    "appdirs", "diskcache", "python-dotenv", "levenshtein", "pillow", "nbformat", "requests",
    "pyarrow", "fastparquet", "pymongo", "tensorflow-cpu",
]  # fmt: skip
# The labels of a competition that it would download lie in the raw data already.
PROGRAM = """
import importlib, pathlib, sys
for slug in sys.argv[2:]:
    module = importlib.import_module(f"mlebench.competitions.{slug}.prepare")
    if hasattr(module, "download_file"):
        module.download_file = lambda address, file: file
    folder = pathlib.Path(sys.argv[1], slug)
    module.prepare(folder / "raw", folder / "public", folder / "private")
"""
# Its code for these asserts numbers of Kaggle's rows, which are too many for a test: it runs
# without assertions.
UNASSERTED = ("billion-word-imputation", "vinbigdata-chest-xray-abnormalities-detection")


def reference(checkout: Path) -> dict[str, dict[str, str]]:
    """The digests of the files of each competition, as MLE-bench's code prepares them."""
    with tempfile.TemporaryDirectory() as scratch:
        for slug, write in RAW_DATA.items():
            folder = Path(scratch, slug)
            for part in ("raw", "public", "private"):
                (folder / part).mkdir(parents=True)
            write(folder / "raw")
        options = [word for library in LIBRARIES for word in ("--with", library)]
        asserted = [slug for slug in RAW_DATA if slug not in UNASSERTED]
        for flags, slugs in (([], asserted), (["-O"], UNASSERTED)):
            subprocess.run(
                ["uv", "run", "--no-project", "--python", "3.11", *options, "python", *flags, "-c",
                 PROGRAM, scratch, *slugs],
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
            elif lines := [f"{below}:{_digest(entry / below)}" for below in files_below(entry)]:
                found[f"{name}/"] = f"{len(lines)} files {_sha256(chr(10).join(lines).encode())}"
    return found


def files_below(folder: Path) -> list[str]:
    """The paths of all files below, in the order of their parts; some folders have 20,000."""
    found: list[tuple[str, ...]] = []
    for place, _, names in os.walk(folder):
        above = Path(place).relative_to(folder).parts
        found += [(*above, name) for name in names]
    return ["/".join(parts) for parts in sorted(found)]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest(file: Path) -> str:
    content = file.read_bytes()  # most are small, and not archives
    if content[:2] == b"PK" and zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            names = [name for name in packed.namelist() if not name.endswith("/")]
            return _of_members("zip", {name: packed.read(name) for name in names})
    if ".7z" in file.name and py7zr.is_7zfile(file):
        return _of_members("7z", _members_of_7z(file))
    if ".tar" in file.name and tarfile.is_tarfile(file):
        return _of_members("tar", _members_of_tar(file))
    return _of_table(content) if content[:4] == b"PAR1" else _sha256(content)


def _of_members(kind: str, members: Mapping[str, bytes]) -> str:
    digests_of = [f"{name}:{_sha256(members[name])}" for name in sorted(members)]
    if kind == "zip":
        return "zip of " + " ".join(digests_of)
    return f"{kind} of {len(members)} files {_sha256(chr(10).join(digests_of).encode())}"


def _members_of_7z(file: Path) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder, py7zr.SevenZipFile(file) as packed:
        packed.extractall(folder)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _members_of_tar(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as packed:
        contents = {member.name: packed.extractfile(member) for member in packed}
        return {name: content.read() for name, content in contents.items() if content}


def _of_table(content: bytes) -> str:
    """Rows and columns of a Parquet file: who writes one chooses pages, sizes and statistics."""
    table = pd.read_parquet(io.BytesIO(content))
    kinds = " ".join(f"{name}:{kind}" for name, kind in table.dtypes.items())
    return f"parquet of {len(table)} rows {kinds} {_sha256(table.to_csv(index=False).encode())}"


if __name__ == "__main__":
    json.dump(reference(Path(sys.argv[1]).resolve()), sys.stdout, indent=1, sort_keys=True)
