"""The blob store that the settings name, and this machine's cache of it."""

from __future__ import annotations

from app.settings import Settings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.open import open_blobs
from app.storage.blobs.store import BlobStore
from app.units import MEGABYTE


def open_store(settings: Settings) -> tuple[BlobStore, FileCache]:
    """Open the blob store and its cache. The caller closes the cache.

    Raises:
        BadSettings: PODIUM_BLOBS_URL does not name a usable store.
    """
    data = settings.data_dir
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    cache = FileCache(data / "cache", settings.cache_mb * MEGABYTE)
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


def require_store(settings: Settings) -> None:
    """Check that files can be stored, before a server or a worker starts.

    Raises:
        BadSettings: the bucket is missing, refuses these credentials, or cannot be written.
        StoreAway: the store does not answer.
    """
    blobs, cache = open_store(settings)
    try:
        blobs.check()
    finally:
        cache.close()
