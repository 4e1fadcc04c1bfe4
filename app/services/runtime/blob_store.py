"""The blob store that the settings name, this machine's cache of it, and the database with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from app.settings import Settings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.disk_reserve import DiskReserve
from app.storage.blobs.open import open_blobs
from app.storage.blobs.store import BlobStore
from app.storage.database.database import Database
from app.storage.database.engine import DatabaseLimits
from app.units import MEGABYTE


def open_store(settings: Settings) -> tuple[BlobStore, FileCache]:
    """Open the blob store and its cache. The caller closes the cache.

    Raises:
        BadSettings: PODIUM_BLOBS_URL does not name a usable store.
    """
    data = settings.data_dir
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    reserve = DiskReserve(data, settings.disk_reserve_percent)
    cache = FileCache(data / "cache", settings.cache_mb * MEGABYTE, reserve)
    try:
        blobs = open_blobs(
            settings.blobs_url,
            settings.s3_options,
            spool=data / "uploads",
            cache=cache,
            reserve_percent=settings.disk_reserve_percent,
        )
    except BaseException:
        cache.close()
        raise
    return blobs, cache


@contextlib.contextmanager
def store_and_database(
    settings: Settings, limits: DatabaseLimits = DatabaseLimits()
) -> Iterator[tuple[BlobStore, Database]]:
    """The store and the database, open for as long as the block takes: for work without a server.

    Raises:
        BadSettings: as `open_store`.
    """
    with (
        contextlib.closing(Database(settings.database_url, limits=limits)) as database,
        store_alone(settings) as store,
    ):
        yield store, database


@contextlib.contextmanager
def store_alone(settings: Settings) -> Iterator[BlobStore]:
    """The store, open for as long as the block takes.

    Raises:
        BadSettings: as `open_store`.
    """
    store, cache = open_store(settings)
    try:
        yield store
    finally:
        cache.close()


def require_store(settings: Settings) -> None:
    """Check that files can be stored, before a server or a worker starts.

    Raises:
        BadSettings: the bucket is missing, refuses these credentials, or cannot be written.
        StoreAway: the store does not answer.
    """
    with store_alone(settings) as store:
        store.check()
