"""Store bodies as small files, each with its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from app.storage.blobs.small_files import SmallFiles
from app.storage.blobs.store import Blob


def blob_of(body: bytes) -> Blob:
    """The blob of these bytes."""
    return Blob(hashlib.sha256(body).hexdigest(), len(body))


def put_all(small: SmallFiles, bodies: Sequence[bytes]) -> list[Blob | Exception]:
    """Store the bodies. Returns the blob of each, or its error."""
    files = [(blob_of(body), body) for body in bodies]
    errors = small.put_all(files)
    return [error or blob for (blob, _), error in zip(files, errors, strict=True)]
