"""A server does not start on a damaged or lost database, nor on another store's files."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from app.services.operations.start_checks import (
    DamagedDatabase,
    ForeignStore,
    OtherStore,
    refuse_damaged_database,
    refuse_other_store,
)
from app.services.runtime.context import INSTANCE
from app.settings import Settings
from app.storage.blobs.disk import STORE_FILE


@pytest.fixture
def settings(migrated_sqlite: Path, tmp_path: Path) -> Settings:
    data = tmp_path / "data"
    data.mkdir()
    shutil.copyfile(migrated_sqlite, data / "podium.db")
    return Settings(data_dir=data, database_url=f"sqlite:///{data / 'podium.db'}")


def test_a_new_directory_and_a_used_one_are_both_right(settings: Settings, tmp_path: Path) -> None:
    refuse_damaged_database(settings)
    (settings.data_dir / INSTANCE).write_text("used")
    refuse_damaged_database(settings)
    refuse_damaged_database(Settings(data_dir=tmp_path / "new"))


@pytest.mark.parametrize("loss", ["removed", "empty"])
def test_a_used_directory_needs_its_database(settings: Settings, loss: str) -> None:
    (settings.data_dir / INSTANCE).write_text("used")
    file = settings.data_dir / "podium.db"
    file.unlink()
    if loss == "empty":
        file.touch()

    with pytest.raises(DamagedDatabase, match="is empty, but the data directory"):
        refuse_damaged_database(settings)


def test_damaged_pages_are_found(settings: Settings) -> None:
    file = settings.data_dir / "podium.db"
    pages = bytearray(file.read_bytes())
    pages[4096:] = b"\xff" * (len(pages) - 4096)
    file.write_bytes(pages)

    with pytest.raises(DamagedDatabase, match="is damaged"):
        refuse_damaged_database(settings)


def test_a_database_knows_its_store(settings: Settings) -> None:
    refuse_other_store(settings)
    refuse_other_store(settings)
    (identity,) = settings.data_dir.glob(f"*/{STORE_FILE}")
    kept = identity.read_text()

    identity.write_text("00" * 16)
    with pytest.raises(OtherStore, match="PODIUM_BLOBS_URL"):
        refuse_other_store(settings)
    identity.write_text(kept)
    refuse_other_store(settings)


def test_a_store_has_one_database(settings: Settings, tmp_path: Path) -> None:
    refuse_other_store(settings)
    other = tmp_path / "other.db"
    shutil.copyfile(settings.data_dir / "podium.db", other)
    with contextlib.closing(sqlite3.connect(other)) as database, database:
        database.execute("DELETE FROM secret")  # as a new database
    second = Settings(data_dir=settings.data_dir, database_url=f"sqlite:///{other}")

    with pytest.raises(ForeignStore, match="belong to another database"):
        refuse_other_store(second)

    refuse_other_store(second.model_copy(update={"blobs_url": (tmp_path / "blobs").as_uri()}))


@pytest.mark.parametrize("text", ["", "\n", "00", "00" * 17])
def test_a_store_whose_identity_a_crash_emptied_is_not_that_of_every_database(
    settings: Settings, text: str
) -> None:
    store = settings.data_dir / "blobs"
    store.mkdir()
    (store / STORE_FILE).write_text(text)

    with pytest.raises(OtherStore, match="expected 32 hex digits"):
        refuse_other_store(settings)
