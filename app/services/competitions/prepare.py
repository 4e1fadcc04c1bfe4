"""Prepare a competition: copy its folder and let its prepare.py process the raw files."""

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
MAX_BYTES = 1 << 40  # the user's own data: limited only by the disk
MAX_FILES = 10_000_000
# prepare.py runs in its own process, because it may use much memory and import anything.
_RUN = (
    "import importlib.util, pathlib, sys\n"
    "spec = importlib.util.spec_from_file_location('prepare', sys.argv[1])\n"
    "module = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "module.prepare(*map(pathlib.Path, sys.argv[2:]))\n"
)


def prepare(folder: Path, raw: Path, data_dir: Path, *, alone: bool) -> Path:
    """Prepare the competition of `folder` from the files in `raw`. Returns the folder to import.

    The raw files are in `raw/SLUG` or `raw/SLUG.zip`; or in `raw` itself if the competition is the
    only one (`alone`). Files that were prepared before are replaced after everything succeeded.

    Raises:
        NotFound: prepare.py or the raw files are missing.
        BadCompetition: the archive cannot be unpacked, or prepare.py failed.
    """
    slug = folder.name
    if not (folder / PREPARE).is_file():
        raise NotFound(
            f"{folder} has no {PREPARE}, which prepares the raw files. For a competition of "
            f"MLE-bench, `mlebench prepare -c {folder.name}` prepares them and `podium import "
            "mle-bench` imports them: docs/competitions.md."
        )
    raw_files = _raw_files(raw, slug, alone=alone)
    target = data_dir.resolve() / "prepared" / slug
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".preparing-", dir=target.parent) as scratch:
        if raw_files.is_file():
            raw_files = _unpacked(raw_files, Path(scratch, "raw"))
        prepared = Path(scratch, slug)
        run_prepare(folder, raw_files, prepared)
        shutil.rmtree(target, ignore_errors=True)
        prepared.rename(target)
    return target


def run_prepare(folder: Path, raw: Path, prepared: Path) -> None:
    """Copy the folder to `prepared`, and let its prepare.py fill `public` and `private` there.

    Raises:
        BadCompetition: prepare.py failed; gives the last line of its error output.
    """
    shutil.copytree(folder, prepared, ignore=shutil.ignore_patterns("public", "private"))
    for part in ("public", "private"):
        (prepared / part).mkdir()
    arguments = [
        str(p) for p in (prepared / PREPARE, raw, prepared / "public", prepared / "private")
    ]
    ran = subprocess.run(  # noqa: S603 (a prepare.py is trusted as its folder is: see docs/operations.md)
        [sys.executable, "-B", "-c", _RUN, *arguments],
        capture_output=True, text=True, check=False, cwd=prepared.parent,
        env={k: v for k, v in os.environ.items() if not k.startswith(("KAGGLE", "PODIUM"))},
    )  # fmt: skip
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it was killed"])[-1]
        file = f"{folder.name}/{PREPARE}"
        raise BadCompetition([{"file": file, "key": "", "message": last[:500]}])


def _unpacked(archive: Path, target: Path) -> Path:
    try:
        unpack_files(archive, target, max_files=MAX_FILES, max_bytes=MAX_BYTES)
    except BadCompetition as error:
        problems = [{**problem, "file": str(archive)} for problem in error.problems]
        raise BadCompetition(problems) from None
    return target


def _raw_files(raw: Path, slug: str, *, alone: bool) -> Path:
    for path in (raw / slug, raw / f"{slug}.zip"):
        if path.exists():
            return path.resolve()
    if alone and any(raw.iterdir()):
        return raw.resolve()
    raise NotFound(f"{raw} has neither a folder {slug} nor {slug}.zip with the raw files.")
