"""Imports of one competition that two servers store at the same moment."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from app.services.competitions.import_folder import import_folder
from app.services.runtime.context import Context
from app.storage.queries import competitions
from tests.factories import write_competition
from tests.services.conftest import Meanwhile


@pytest.mark.parametrize("database_kind", ["postgresql"])
@pytest.mark.parametrize(("toml", "numbers"), [("", (1, 1)), ("# changed\n", (1, 2))])
def test_contents_that_are_imported_at_once_are_versions(
    servers: tuple[Context, Context],
    meanwhile: Meanwhile,
    tmp_path: Path,
    toml: str,
    numbers: tuple[int, int],
) -> None:
    """Of two contents the second was an internal error: its number was there when it was stored."""
    one, other = servers
    mine = write_competition(tmp_path / "mine" / "tiny")
    theirs = write_competition(tmp_path / "theirs" / "tiny", toml=toml)
    for folder in (mine, theirs):
        shutil.rmtree(folder / "private")  # without data no grader has to look at it
        (folder / "public" / "train.csv").unlink()

    ended = meanwhile(competitions, "add_version", partial(import_folder, other, theirs))
    assert (import_folder(one, mine).version.number, ended().version.number) == numbers
