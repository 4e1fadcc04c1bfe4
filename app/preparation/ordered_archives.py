"""Archives whose files can be read only in the order of the archive: 7z and tar."""

from __future__ import annotations

from collections.abc import Collection
from typing import IO

from app.preparation import tar_files
from app.preparation.tar_files import Use


def is_ordered(archive: str) -> bool:
    """Whether an archive of this name is one of them; zip files are not."""
    return not archive.endswith(".zip")


def needs_seeking(archive: str) -> bool:
    """Whether the archive is read from its end: 7z archives are, and tar archives are streams."""
    return archive.endswith(".7z")


def names(archive: str, stream: IO[bytes]) -> list[str]:
    """The sorted names of the files in an archive.

    Raises:
        ModuleNotFoundError: it is a 7z archive, and py7zr is not installed.
        py7zr.Bad7zFile, py7zr.exceptions.CrcError, lzma.LZMAError, tarfile.ReadError,
            gzip.BadGzipFile, EOFError, zlib.error: it is cut or damaged.
    """
    if not archive.endswith(".7z"):
        return tar_files.names(stream)
    from app.preparation import seven_zip  # needs py7zr, which is optional

    return seven_zip.names(stream)


def read(archive: str, stream: IO[bytes], wanted: Collection[str], use: Use) -> None:
    """Call `use` with the name, the content and the size of each wanted file, in one pass.

    Raises:
        FileNotFoundError: not all wanted files are there.
        ModuleNotFoundError, and errors of damaged archives: as `names`.
    """
    missing = set(wanted)

    def found(name: str, content: IO[bytes], size: int) -> None:
        missing.discard(name)
        use(name, content, size)

    if archive.endswith(".7z"):
        from app.preparation import seven_zip  # as above

        seven_zip.read(stream, wanted, found)
    else:
        tar_files.read(stream, wanted, found)
    if missing:
        raise FileNotFoundError(
            f"{archive} lacks {len(missing)} of {len(wanted)} files, as {min(missing)}. Download "
            "the competition's data again, complete."
        )
