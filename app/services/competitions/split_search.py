"""Copy a competition folder, and mark rows of its answers as rows to search on."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.domain.competition import TOML, parse_competition
from app.errors import BadCompetition, NeedsData
from app.importers.folder import MAX_FILES, ONE_DISK
from app.importers.names import problem
from app.importers.tree import SourceFile, copy_file, list_files
from app.preparation.search_rows import mark_search_rows

TOO_LARGE = f"is larger than {ONE_DISK} bytes"


@dataclass(frozen=True, slots=True)
class SplitFolder:
    """The folder to import, and how many rows of its answers have each usage."""

    folder: Path
    rows: dict[str, int]


def split_search(folder: Path, data_dir: Path, *, share: float, seed: int) -> SplitFolder:
    """Copy a competition folder to the data directory, with rows to search on in its answers.

    A copy from an earlier call is replaced after everything has succeeded. The given folder is not
    changed.

    Raises:
        BadCompetition: competition.toml is invalid, or a file is a link, damaged or out of place.
        NeedsData: the folder has no answers.
        Invalid: as `mark_search_rows`.
    """
    # Links are refused as by an import, also one that replaces a file meanwhile: the copy would
    # have the content of the file to which it leads.
    files = {file.staged: file for file in list_files(folder, max_files=MAX_FILES)}
    target = data_dir.resolve() / "split" / folder.name
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".splitting-", dir=target.parent) as scratch:
        toml = _text(files[TOML], Path(scratch, "read"))
        name = f"private/{parse_competition(folder.name, toml).answers.file}"
        if name not in files:
            raise NeedsData(
                f"There is no {folder / name}, and without the answers nothing can be split."
            )
        answers = mark_search_rows(_text(files[name], Path(scratch, "read")), share, seed)
        made = Path(scratch, folder.name)
        for file in files.values():
            if file.staged != name:
                copy_file(file, made, max_bytes=ONE_DISK, too_large=TOO_LARGE, packed=True)
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(answers.text, encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    return SplitFolder(target, answers.rows)


def _text(file: SourceFile, scratch: Path) -> str:
    copy = copy_file(file, scratch, max_bytes=ONE_DISK, too_large=TOO_LARGE)
    try:
        return (scratch / copy.path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start})"
        raise BadCompetition([problem(file.path, "", message)]) from None
