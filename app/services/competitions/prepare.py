"""Prepare a competition: copy its folder and let its prepare.py process the raw files."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from app.errors import BadCompetition, Invalid, NotFound
from app.importers.archive import unpack_files
from app.importers.mle_bench import Sources, assemble

PREPARE = "prepare.py"
MAX_BYTES = 1 << 40  # the user's own data: limited only by the disk
MAX_FILES = 10_000_000
# The function of a prepare.py that reads the raw files where they lie, an archive too, and that
# writes files as MLE-bench lays them out.
PREPARE_FILES = "prepare_files"


def prepare(
    folder: Path, raw: Path, data_dir: Path, *, alone: bool, grading_only: bool = False
) -> Path:
    """Prepare the competition of `folder` from the files in `raw`. Returns the folder to import.

    The raw files are in `raw/SLUG` or `raw/SLUG.zip`; or in `raw` itself if the competition is the
    only one (`alone`). Files that were prepared before are replaced after everything succeeded.
    With `grading_only`, a prepare.py that reads `RawFiles` leaves out what only agents need.

    Raises:
        NotFound: prepare.py or the raw files are missing.
        Invalid: `grading_only`, and the prepare.py cannot leave anything out.
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
        if reads_archives(folder):
            prepared = prepare_as_mle_bench(folder, raw_files, Path(scratch), grading_only)
        elif grading_only:
            raise Invalid(
                f"{slug} cannot be prepared for grading only: its {PREPARE} has no function "
                f"{PREPARE_FILES}. Leave out --grading-only."
            )
        else:
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
    _run(folder, raw, prepared)


def reads_archives(folder: Path) -> bool:
    """Whether the folder's prepare.py reads the raw files where they lie, an archive too."""
    return PREPARE_FILES in _functions(folder / PREPARE)


def prepare_as_mle_bench(
    folder: Path, raw: Path, scratch: Path, grading_only: bool = False
) -> Path:
    """Let prepare.py write files as MLE-bench does, and make a folder to import of them.

    `raw` is the folder of the raw files, or the archive of them.

    Raises:
        BadCompetition: prepare.py failed; gives the last line of its error output.
    """
    prepared = scratch / "mle-bench" / folder.name / "prepared"
    for part in ("public", "private"):
        (prepared / part).mkdir(parents=True)
    _run(folder, raw, prepared, grading_only=grading_only)
    return assemble(folder, Sources(scratch / "mle-bench"), scratch).folder


def _functions(file: Path) -> set[str]:
    """The names of the functions of a Python file, which is not run; none of a broken one."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def _run(folder: Path, raw: Path, prepared: Path, *, grading_only: bool = False) -> None:
    """Run prepare.py in a process of its own, with directories for what it makes."""
    arguments = [str(path.resolve()) for path in (folder / PREPARE, raw, prepared)]
    places = [f"{arguments[2]}/{part}" for part in ("public", "private")]
    flags = ["--grading-only"] if grading_only else []
    ran = subprocess.run(  # noqa: S603 (a prepare.py is trusted as its folder is: see docs/operations.md)
        [sys.executable, "-B", "-m", "app.preparation.run", *arguments[:2], *places, *flags],
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
