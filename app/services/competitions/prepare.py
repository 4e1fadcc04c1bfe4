"""Prepare a competition: a copy of its folder, with what its prepare.py makes of the raw files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from app.errors import BadCompetition, NotFound
from app.importers.archive import unpack_files

PREPARE = "prepare.py"
MAX_BYTES = 1 << 40  # of one's own disk: only the disk is the bound
MAX_FILES = 10_000_000
# A process of its own: a prepare.py may take all memory, and leaves nothing behind here.
_RUN = (
    "import importlib.util, pathlib, sys\n"
    "spec = importlib.util.spec_from_file_location('prepare', sys.argv[1])\n"
    "module = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "module.prepare(*map(pathlib.Path, sys.argv[2:]))\n"
)


def prepare(folder: Path, raw: Path, data_dir: Path, *, alone: bool) -> Path:
    """Prepare the competition of `folder` from what lies in `raw`; gives the folder to import.

    The raw files are in `raw/SLUG` or `raw/SLUG.zip`, or in `raw` itself where the competition
    stands `alone`. What was prepared before is replaced, once all has gone well.

    Raises:
        NotFound: there is no prepare.py, or there are no raw files.
        BadCompetition: the archive cannot be unpacked, or prepare.py failed.
    """
    slug = folder.name
    if not (folder / PREPARE).is_file():
        raise NotFound(f"{folder} has no {PREPARE}: nothing says what becomes of the raw files.")
    there = _raw_files(raw, slug, alone=alone)
    target = data_dir.resolve() / "prepared" / slug
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".preparing-", dir=target.parent) as scratch:
        if there.is_file():
            there = _unpacked(there, Path(scratch, "raw"))
        whole = Path(scratch, slug)
        run_prepare(folder, there, whole)
        shutil.rmtree(target, ignore_errors=True)
        whole.rename(target)
    return target


def run_prepare(folder: Path, raw: Path, whole: Path) -> None:
    """Copy the folder to `whole`, and let its prepare.py fill `public` and `private` there.

    Raises:
        BadCompetition: it failed; the last line of what it said is told.
    """
    shutil.copytree(folder, whole, ignore=shutil.ignore_patterns("public", "private"))
    for part in ("public", "private"):
        (whole / part).mkdir()
    arguments = [str(p) for p in (whole / PREPARE, raw, whole / "public", whole / "private")]
    ran = subprocess.run(  # noqa: S603 (a prepare.py is trusted as its folder is: see docs/operations.md)
        [sys.executable, "-B", "-c", _RUN, *arguments],
        capture_output=True, text=True, check=False, cwd=whole.parent,
        env={k: v for k, v in os.environ.items() if not k.startswith(("KAGGLE", "PODIUM"))},
    )  # fmt: skip
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it was killed"])[-1]
        file = f"{folder.name}/{PREPARE}"
        raise BadCompetition([{"file": file, "key": "", "message": last[:500]}])


def _unpacked(archive: Path, into: Path) -> Path:
    try:
        unpack_files(archive, into, max_files=MAX_FILES, max_bytes=MAX_BYTES)
    except BadCompetition as error:
        problems = [{**problem, "file": str(archive)} for problem in error.problems]
        raise BadCompetition(problems) from None
    return into


def _raw_files(raw: Path, slug: str, *, alone: bool) -> Path:
    for place in (raw / slug, raw / f"{slug}.zip"):
        if place.exists():
            return place.resolve()
    if alone and any(raw.iterdir()):
        return raw.resolve()
    raise NotFound(f"{raw} has neither a folder {slug} nor {slug}.zip with the raw files.")
