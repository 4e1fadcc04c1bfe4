"""The files that come with Podium in addition to its code: the competitions and the migrations."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal


def bundled(name: Literal["competitions", "migrations"]) -> Path:
    """The directory of this name: inside the package in a wheel, beside it in the repository."""
    inside = _package() / name
    return inside if inside.is_dir() else _package().parent / name


def is_installed(directory: Path) -> bool:
    """Whether a directory is from a wheel, so that the user's files do not belong there."""
    return directory.is_relative_to(_package())


def _package() -> Path:
    return Path(str(files("app")))
