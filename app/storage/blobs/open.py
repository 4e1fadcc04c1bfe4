"""Open the blob store that a URL names."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.errors import BadSettings
from app.storage.blobs.cache import FileCache
from app.storage.blobs.disk import DiskBlobs
from app.storage.blobs.journal import recover_abandoned
from app.storage.blobs.s3 import S3Blobs
from app.storage.blobs.store import BlobStore

BUCKET = re.compile(r"[A-Za-z0-9._:-]+")
HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")  # the second is an address of IPv6


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
        BadSettings: the URL or an option is not valid, or the directory cannot be used.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that are not those of an IPv6 address
        raise _bad_url("it is not a URL") from None  # it may have a password
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
            if not BUCKET.fullmatch(parts.netloc):
                raise _bad_url(f"no bucket can have the name {parts.netloc!r}")
            prefix = unquote(parts.path).strip("/")
            if not prefix.isprintable() or (prefix and {"", ".", ".."} & {*prefix.split("/")}):
                raise _bad_url(f"no object can have the prefix {prefix!r}")
            _require_valid(options)
            return S3Blobs(
                parts.netloc,
                prefix,
                options,
                spool=spool,
                cache=cache,
                reserve_percent=reserve_percent,
            )
    raise _bad_url(f"its scheme is {parts.scheme or 'missing'!r}")


def _require_valid(options: dict[str, str]) -> None:
    """Refuse values with which the S3 client would panic, which is not an ordinary exception."""
    for name, value in options.items():
        if not value.isprintable():
            raise BadSettings(
                f"AWS_{'ENDPOINT_URL' if name == 'endpoint' else name.upper()} has a character "
                "that cannot be sent, such as a line feed at its end."
            )
    endpoint = options.get("endpoint")
    if endpoint is not None and not _is_address(endpoint):
        shown = endpoint.rpartition("@")[2]  # before it there may be a password
        raise BadSettings(
            f"AWS_ENDPOINT_URL is {shown!r}: expected an address such as http://minio:9000."
        )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0  # reading it raises an error for an invalid port
    except ValueError:
        return False
    is_host = HOST.fullmatch(parts.hostname or "") is not None
    return has_port and is_host and parts.scheme in ("http", "https") and " " not in text


def _bad_url(reason: str) -> BadSettings:
    return BadSettings(
        f"PODIUM_BLOBS_URL cannot be used: {reason}. Expected file:///path or s3://bucket/prefix."
    )
