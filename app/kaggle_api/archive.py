"""A zip of all public files of a version, made once and cached: the same bytes for all clients."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from app.services.runtime.catalogue import CatalogueEntry
from app.services.runtime.context import Context
from app.storage.blobs.lease import Lease

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip can store


def lease_archive(context: Context, entry: CatalogueEntry) -> Lease:
    """The zip, made at its first use on this machine and then cached.

    The files are stored without compression: the network is local, agents wait for the first zip
    of a large competition, and the bytes do not depend on zlib's version.

    Raises:
        StorageFull: the disk is full.
        DamagedFile, StoreAway: a file cannot be read.
    """
    files = context.catalogue.public_files.of(entry.version.id)
    identity = files.digest  # the same public files give the same bytes, on any machine

    def make(target: Path) -> None:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            for file in files:
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
