"""Which store a URL names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.errors import BadSettings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.journal_recovery import recover_abandoned
from app.storage.blobs.s3 import S3Blobs
from app.storage.blobs.store import BlobStore


def open_blobs(url: str, options: dict[str, str], *, spool: Path, cache: FileCache) -> BlobStore:
    """The store at `file:///path` or `s3://bucket/prefix`, with all that was ever stored in it.

    `options` are what S3 needs beside the URL; `spool` and `cache` are for a store elsewhere.

    Raises:
        BadSettings: it is no such URL, or the directory cannot be used.
    """
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise _no_url("it has more than a place: credentials and options go into AWS_* variables")
    match parts.scheme:
        case "file":
            if parts.netloc or not parts.path.startswith("/"):
                raise _no_url(f"{url!r} names no absolute path: three slashes follow file:")
            store = DiskBlobs(Path(unquote(parts.path)))
            recover_abandoned(store)
            return store
        case "s3":
            if not parts.netloc:
                raise _no_url(f"{url!r} names no bucket")
            prefix = unquote(parts.path).strip("/")
            return S3Blobs(parts.netloc, prefix, options, spool=spool, cache=cache)
    raise _no_url(f"its scheme is {parts.scheme or 'missing'!r}")


def _no_url(reason: str) -> BadSettings:
    return BadSettings(
        f"PODIUM_BLOBS_URL cannot be used: {reason}. It is file:///path or s3://bucket/prefix."
    )
