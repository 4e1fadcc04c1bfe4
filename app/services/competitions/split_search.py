"""Make a competition folder whose answers have rows to search on, from one without."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.domain.competition import TOML, parse_competition
from app.errors import NeedsData
from app.preparation.search_rows import mark_search_rows


@dataclass(frozen=True, slots=True)
class SplitFolder:
    """The folder to import, and how many rows of its answers have each usage."""

    folder: Path
    rows: dict[str, int]


def split_search(folder: Path, data_dir: Path, *, share: float, seed: int) -> SplitFolder:
    """Copy a competition folder to the data directory, with rows to search on in its answers.

    A folder that was made so before is replaced after everything succeeded. The given folder stays
    as it is.

    Raises:
        BadCompetition: competition.toml is invalid.
        NeedsData: the folder has no answers.
        Invalid: as `mark_search_rows`.
    """
    toml = (folder / TOML).read_text(encoding="utf-8")
    name = parse_competition(folder.name, toml).answers.file
    answers = mark_search_rows(_text(folder / "private" / name), share, seed)
    target = data_dir.resolve() / "split" / folder.name
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".splitting-", dir=target.parent) as scratch:
        made = Path(scratch, folder.name)
        shutil.copytree(folder, made)
        (made / "private" / f"{name}.gz").unlink(missing_ok=True)
        (made / "private" / name).write_text(answers.text, encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    return SplitFolder(target, answers.rows)


def _text(file: Path) -> str:
    packed = file.with_name(f"{file.name}.gz")
    if file.is_file():
        data = file.read_bytes()
    elif packed.is_file():
        data = gzip.decompress(packed.read_bytes())
    else:
        raise NeedsData(f"There is no {file}, and without the answers nothing can be split.")
    return data.decode("utf-8-sig")
