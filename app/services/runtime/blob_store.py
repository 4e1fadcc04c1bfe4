"""The store of files that the settings name, and this machine's cache of it."""

from __future__ import annotations

from app.settings import MEGABYTE, Settings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.open import open_blobs
from app.storage.blobs.store import BlobStore


def open_store(settings: Settings) -> tuple[BlobStore, FileCache]:
    """Open both. The caller closes the cache.

    Raises:
        BadSettings: PODIUM_BLOBS_URL names no store that can be used.
    """
    data = settings.data_dir
    data.mkdir(parents=True, exist_ok=True)
    cache = FileCache(data / "cache", settings.cache_mb * MEGABYTE)
    try:
        blobs = open_blobs(
            settings.blobs_url, settings.s3_options, spool=data / "uploads", cache=cache
        )
    except BaseException:
        cache.close()
        raise
    return blobs, cache


def require_store(settings: Settings) -> None:
    """Ask, before a server or a worker starts, whether it will be able to keep files.

    Raises:
        BadSettings: the bucket is missing, refuses these credentials, or cannot be written.
        StoreAway: nobody answers there.
    """
    blobs, cache = open_store(settings)
    try:
        blobs.check()
    finally:
        cache.close()
