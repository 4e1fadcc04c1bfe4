"""The program that runs a prepare.py: FILE RAW PUBLIC PRIVATE, and `--grading-only` if asked for.

It is a process of its own, because a prepare.py may use much memory and import anything.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from app.preparation.raw_files import RawFiles


def main(file: Path, raw: Path, public: Path, private: Path, *, grading_only: bool = False) -> None:
    """Call the function `prepare_files` of a prepare.py, or `prepare` where there is no such.

    `prepare_files` reads `RawFiles`, an archive too; `prepare` gets the folder of the raw files.
    """
    spec = importlib.util.spec_from_file_location("prepare", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "prepare_files"):
        with RawFiles(raw, grading_only=grading_only) as files:
            module.prepare_files(files, public, private)
    else:
        module.prepare(raw, public, private)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]), grading_only="--grading-only" in sys.argv[5:])
