"""The file names that Podium accepts from folders and archives."""

from __future__ import annotations

LONGEST_NAME = 200  # characters of a path below public/ or private/
LONGEST_PART = 255  # bytes between two slashes: the limit of Linux file systems
# Files that Python and macOS leave in folders; they never belong to a competition.
JUNK = frozenset({"__pycache__", ".DS_Store", "__MACOSX"})
HIDDEN = "a name may not start with a dot"
SHOWN = 60  # characters of a bad name repeated in a message
GIT_LFS = b"version https://git-lfs.github.com/spec/"  # a file that starts so is a pointer
IS_POINTER = "is a Git LFS pointer, not the file: run `git lfs pull` in the checkout"


def name_mistake(name: str, longest: int = LONGEST_NAME) -> str | None:
    """Why `name`, a relative path with `/` between its parts, is rejected; None if it is valid.

    Public files are served under these names, so they must be valid on every system.

    >>> name_mistake("public/images/1.png") is None
    True
    >>> name_mistake("public/../private/answers.csv")
    'a path may not contain ..'
    """
    parts = name.split("/")
    if name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        return "a path may not be absolute"
    if ".." in parts:
        return "a path may not contain .."
    if "" in parts:
        return "a part of the path is empty"
    if "\\" in name:
        return "a name may not contain a backslash"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "the name is not UTF-8"
    if not name.isprintable():
        return "a name may not contain control characters or others that do not print"
    if any(part.startswith(".") for part in parts):
        return HIDDEN
    if any(part != part.strip() for part in parts):
        return "a name may not start or end with a blank"
    if len(name) > longest:
        return f"the path is longer than {longest} characters"
    if any(len(part.encode()) > LONGEST_PART for part in parts):
        return f"a part of the path is longer than {LONGEST_PART} bytes"
    return None


def is_junk(name: str) -> bool:
    """Whether `name` is ignored: see JUNK.

    >>> is_junk("public/.DS_Store"), is_junk("public/train.csv")
    (True, False)
    """
    return not JUNK.isdisjoint(name.split("/"))


def shown(name: str) -> str:
    """`name` in a form for messages: printable and not too long.

    >>> shown("a" + chr(0))
    'a?'
    """
    text = "".join(character if character.isprintable() else "?" for character in name)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def problem(file: str, key: str, message: str) -> dict[str, str]:
    """One entry of BadCompetition's list."""
    return {"file": shown(file), "key": key, "message": message}
