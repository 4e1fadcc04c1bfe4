"""Imports of large folders, and of one competition by two servers at the same moment."""

from __future__ import annotations

import contextlib
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from app.domain.competition import TOML
from app.errors import BadCompetition
from app.services.competitions.import_folder import import_folder
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.models import CompetitionVersion
from app.storage.queries import competitions
from tests.factories import write_competition
from tests.services.conftest import Meanwhile

MANY = 5


def without_data(folder: Path, toml: str) -> Path:
    """A competition folder that no grader has to look at."""
    write_competition(folder, toml=toml)
    shutil.rmtree(folder / "private")
    (folder / "public" / "train.csv").unlink()
    return folder


def test_a_folder_may_be_larger_than_what_is_uploaded(
    migrated_sqlite: Path, tmp_path: Path
) -> None:
    """Beyond sixteen uploads, 16 GB, `podium import folder` refused what `podium prepare` made."""
    file = shutil.copyfile(migrated_sqlite, tmp_path / "podium.db")
    settings = Settings(
        data_dir=tmp_path / "data", database_url=f"sqlite:///{file}", max_upload_mb=1
    )
    folder = without_data(tmp_path / "tiny", "")
    with (folder / "public" / "images.zip").open("wb") as images:
        images.truncate(16 * 1024**2 + 1)
    with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
        assert import_folder(context, folder).created


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
    mine = without_data(tmp_path / "mine" / "tiny", "")
    theirs = without_data(tmp_path / "theirs" / "tiny", toml)

    ended = meanwhile(competitions, "add_version", partial(import_folder, other, theirs))
    assert (import_folder(one, mine).version.number, ended().version.number) == numbers


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_many_contents_that_are_imported_at_once_are_versions(
    servers: tuple[Context, Context], database_url: str, tmp_path: Path
) -> None:
    """The third was an internal error: others had its number, and the next one as well."""
    begin = threading.Barrier(MANY)

    def load(number: int) -> int:
        settings = Settings(data_dir=tmp_path / f"data-{number}", database_url=database_url)
        with contextlib.closing(open_context(settings, grades=False, validates=False)) as context:
            folder = without_data(tmp_path / f"{number}" / "tiny", f"# {number}\n")
            begin.wait(30)
            return import_folder(context, folder).version.number

    with ThreadPoolExecutor(MANY) as threads:
        assert sorted(threads.map(load, range(MANY))) == [*range(1, MANY + 1)]


def test_bounds_that_came_later_do_not_keep_a_stored_toml_from_being_imported_again(
    context: Context, tmp_path: Path
) -> None:
    """`podium verify` says to import a damaged version again."""
    folder = without_data(tmp_path / "tiny", "")
    stored = import_folder(context, folder).version
    toml = f'{stored.toml}[submission.columns.more]\nkind = "integer"\nmax = {10**20}\n'
    (folder / TOML).write_text(toml)
    with pytest.raises(BadCompetition, match="less than 2"):
        import_folder(context, folder)

    # As a version that was stored before there was this bound.
    older = update(CompetitionVersion).values(toml=toml)
    context.database.write(lambda session: session.execute(older))

    assert import_folder(context, folder).created
