"""Write the files of a prepared competition, with the same bytes for everybody."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pandas as pd

_OLDEST = (1980, 1, 1, 0, 0, 0)  # the time of members: an archive depends only on its content


def write_csv(table: pd.DataFrame, file: Path, **options: Any) -> None:
    """Write a table without its index, lines ended by a line feed. `options` are those of to_csv.

    Raises:
        FileExistsError: the file was written before.
    """
    with file.open("xb") as stream:
        table.to_csv(stream, index=False, lineterminator="\n", **options)


@contextlib.contextmanager
def zipped(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """A stream into the only member of a new zip archive, which is written piece by piece.

    Raises:
        FileExistsError: the archive was written before.
    """
    entry = zipfile.ZipInfo(member, _OLDEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with (
        zipfile.ZipFile(archive, "x") as packed,
        packed.open(entry, "w", force_zip64=True) as stream,
    ):
        yield stream


def write_zipped_csv(table: pd.DataFrame, archive: Path, member: str, **options: Any) -> None:
    """Write a table as `write_csv` does, as the only member of a zip archive."""
    with zipped(archive, member) as stream:
        table.to_csv(stream, index=False, lineterminator="\n", **options)
