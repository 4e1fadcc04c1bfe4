"""Find competition folders: for a name or a path on the command line, or all in a directory."""

from __future__ import annotations

import os
from pathlib import Path

from app.bundled import bundled
from app.domain.competition import TOML
from app.errors import Conflict, NotFound


def competition_folder(competitions_dir: Path, name_or_path: str) -> Path:
    """The competition folder for `name_or_path`. The name of the folder is the slug.

    Text with a slash, `.` and `..` are paths. Any other text is the name of a folder in
    `competitions_dir`, of a bundled competition, or of a folder in the current directory.

    Raises:
        NotFound: there is no such folder with a competition.toml.
        Conflict: a folder in the current directory has the name of another competition.
    """
    here = Path(os.path.realpath(name_or_path))  # resolve() fails at a link to itself
    if os.sep in name_or_path or name_or_path in (".", ".."):
        if not _is_competition(here):
            raise NotFound(f"There is no competition folder {here} with a {TOML}.")
        return here
    named = [directory / name_or_path for directory in (competitions_dir, bundled("competitions"))]
    found = next((folder for folder in named if _is_competition(folder)), None)
    if found is None:
        if _is_competition(here):
            return here
        places = ", ".join(str(path.parent) for path in dict.fromkeys((*named, here)))
        raise NotFound(
            f"There is no competition folder {name_or_path!r} with a {TOML} in {places}. Give its "
            "name, or the path of the folder."
        )
    if _is_competition(here) and here != found.resolve():
        raise Conflict(
            f"{name_or_path!r} is the name of {found} and of the folder {here}. Write "
            f"./{name_or_path} or {found}, whichever you mean."
        )
    return found


def folders_in(root: Path, slugs: list[str]) -> list[Path]:
    """The competition folders below `root`: the named ones, or all if none is named.

    Raises:
        NotFound: a named folder does not exist.
    """
    if not slugs:
        return sorted(file.parent for file in root.glob(f"*/{TOML}"))
    for slug in slugs:
        if not _is_competition(root / slug):
            raise NotFound(f"There is no competition folder {root / slug} with a {TOML}.")
    return [root / slug for slug in slugs]


def _is_competition(folder: Path) -> bool:
    return (folder / TOML).is_file()
