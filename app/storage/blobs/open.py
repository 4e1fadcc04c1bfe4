"""Open the blob store that a URL names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.errors import BadSettings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.journal import recover_abandoned
from app.storage.blobs.s3 import S3Blobs
from app.storage.blobs.store import BlobStore


def open_blobs(
    url: str,
    options: dict[str, str],
    *,
    spool: Path,
    cache: FileCache,
    reserve_percent: float = 0.0,
) -> BlobStore:
    """Open the store at `file:///path` or `s3://bucket/prefix`.

    `options` are further options for S3. `spool` and `cache` are used by an S3 store only.
    Uploads leave `reserve_percent` of this machine's disk free. Recovers the journals of a store on
    disk.

    Raises:
        BadSettings: the URL is not valid, or the directory cannot be used.
    """
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise _bad_url("it has credentials or options; set them in AWS_* variables")
    if "\0" in unquote(parts.path):
        raise _bad_url("it has a null byte")
    match parts.scheme:
        case "file":
            if parts.netloc or not parts.path.startswith("/"):
                raise _bad_url(f"{url!r} names no absolute path: three slashes follow file:")
            store = DiskBlobs(Path(unquote(parts.path)), reserve_percent)
            recover_abandoned(store)
            return store
        case "s3":
            if not parts.netloc:
                raise _bad_url(f"{url!r} names no bucket")
            prefix = unquote(parts.path).strip("/")
            return S3Blobs(
                parts.netloc,
                prefix,
                options,
                spool=spool,
                cache=cache,
                reserve_percent=reserve_percent,
            )
    raise _bad_url(f"its scheme is {parts.scheme or 'missing'!r}")


def _bad_url(reason: str) -> BadSettings:
    return BadSettings(
        f"PODIUM_BLOBS_URL cannot be used: {reason}. Expected file:///path or s3://bucket/prefix."
    )
