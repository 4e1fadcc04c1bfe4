"""Check names of raw files. Many come from tables among the raw files, which a stranger wrote."""

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
    # An absolute path begins with an empty part: Path("public", "/etc/x") is /etc/x.
    if any(part in ("", "..") for part in name.split("/")):
        raise Invalid(
            f"The raw files name a file {name!r}, which leads out of their folder. Whoever packed "
            "them may have meant harm: download the competition's data again."
        )


def names_below(folder: Path) -> Iterator[str]:
    """The paths of everything below a folder that is not a folder.

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


def require_no_way_out(folder: Path, root: Path) -> None:
    """Check that neither a folder nor a link below it leads out of the folder `root`.

    An archive of a stranger may contain links. The files to which they lead, such as a key or the
    answers of another competition, would become files that agents read.

    Raises:
        BadCompetition: one does; the error names it.
    """
    inside = Path(os.path.realpath(root))  # resolve() fails at a link to itself
    for directory, folders, files in os.walk(folder):
        for path in (Path(directory), *(Path(directory, name) for name in (*folders, *files))):
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
                place = path.name if path == folder else path.relative_to(folder).as_posix()
                message = f"is a link that leads out of {root}; put the file itself here"
                raise BadCompetition([{"file": place, "key": "", "message": message}])
