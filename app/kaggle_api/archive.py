"""All public files of a version in one zip, made once and kept: the same bytes for everybody."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from pathlib import Path

from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.storage.blobs.lease import Lease

EPOCH = (1980, 1, 1, 0, 0, 0)  # where time starts for zip


def archive_identity(entry: CatalogueEntry) -> str:
    """The zip's name for caches: the same public files give the same bytes, on any machine."""
    digest = hashlib.sha256()
    for file in entry.version.files:
        digest.update(f"{file['name']}\0{file['sha256']}\n".encode())
    return digest.hexdigest()


def lease_archive(context: Context, entry: CatalogueEntry) -> Lease:
    """The zip, made at its first use on this machine and kept in the cache.

    The files are stored, not deflated: the network is a local one, agents wait for the first zip
    of a large competition, and no release of zlib can change the bytes.

    Raises:
        StorageFull: the disk takes no more.
        DamagedFile, StoreAway: a file cannot be had.
    """
    identity = archive_identity(entry)

    def make(target: Path) -> None:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            for file in entry.version.files:
                member = zipfile.ZipInfo(file["name"], EPOCH)
                member.external_attr = 0o644 << 16
                member.create_system = 3
                member.file_size = file["bytes"]
                public = context.catalogue.files.lease_public(
                    entry.version, file["name"], file["sha256"]
                )
                with (
                    public,
                    public.path.open("rb") as source,
                    archive.open(member, "w") as packed,
                ):
                    shutil.copyfileobj(source, packed, 1 << 20)

    return context.cache.get(f"archives/{identity[:2]}/{identity}.zip", make)
