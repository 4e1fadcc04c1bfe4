"""All public files of a version in one zip, made once and kept: the same bytes for everybody."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import uuid
import zipfile
from pathlib import Path

from app.errors import StorageFull
from app.services.catalogue import Entry
from app.services.context import Context

_making = threading.Lock()
EPOCH = (1980, 1, 1, 0, 0, 0)  # where time starts for zip


def archive_of(context: Context, entry: Entry) -> tuple[Path, str]:
    """The zip and its name for caches: the same public files give the same bytes, on any machine.

    The files are stored, not deflated: the network is a local one, agents wait for the first zip
    of a large competition, and no release of zlib can change the bytes.
    """
    digest = hashlib.sha256()
    for file in entry.version.files:
        digest.update(f"{file['name']}\0{file['sha256']}\n".encode())
    path = context.settings.data_dir / "archives" / f"{digest.hexdigest()}.zip"
    if not path.is_file():
        with _making:
            if not path.is_file():
                _make(entry, path)
    return path, digest.hexdigest()


def _make(entry: Entry, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{uuid.uuid4().hex}")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as archive:
            for file in entry.version.files:
                member = zipfile.ZipInfo(file["name"], EPOCH)
                member.external_attr = 0o644 << 16
                member.create_system = 3
                member.file_size = file["bytes"]
                with (
                    (entry.directory / "public" / file["name"]).open("rb") as source,
                    archive.open(member, "w") as target,
                ):
                    shutil.copyfileobj(source, target, 1 << 20)
        moment = entry.version.imported_at.timestamp()
        os.utime(partial, (moment, moment))
        partial.rename(path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise StorageFull("The disk is full: the archive could not be made.") from error
    finally:
        partial.unlink(missing_ok=True)
