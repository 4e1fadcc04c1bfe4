"""Names of raw files. Many are read from tables among the raw files, which a stranger wrote."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from app.errors import BadCompetition, Invalid


def require_inside(name: str) -> None:
    """Check that a path below a folder does not lead out of it.

    >>> require_inside("train/1.jpg")

    Raises:
        Invalid: it does, or would below another folder.
    """
    # After an empty part comes an absolute path: Path("public", "/etc/x") is /etc/x.
    if any(part in ("", "..") for part in name.split("/")):
        raise Invalid(
            f"The raw files name a file {name!r}, which leads out of their folder. Whoever packed "
            "them may have meant harm: download the competition's data again."
        )


def names_below(folder: Path) -> Iterator[str]:
    """The paths below a folder of all that is no folder.

    Raises:
        BadCompetition: there is a link to a folder. It is not followed, for an archive may have
            brought it along, and without it files would be missing that somebody meant.
    """
    for directory, folders, files in os.walk(folder):
        here = Path(directory)
        below = here.relative_to(folder).as_posix()
        for name in folders:
            if (here / name).is_symlink():
                message = "is a link to a folder; put the folder itself here, or mount it"
                place = (Path(below) / name).as_posix()
                raise BadCompetition([{"file": place, "key": "", "message": message}])
        yield from files if below == "." else (f"{below}/{name}" for name in files)
