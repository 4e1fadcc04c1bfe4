"""List and copy the files of a competition folder, without following links."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.domain.competition import SAMPLE_FILE
from app.errors import BadCompetition
from app.importers.names import GIT_LFS, IS_POINTER, is_junk, name_mistake, problem
from app.importers.packed_file import unpacked
from app.sync_directory import sync_directory
from app.units import CHUNK_BYTES, MEGABYTE

UNPACKED = ".csv.gz"  # below public/ and private/: NAME.csv.gz stands for NAME.csv
FOLDERS = ("public", "private")
# An empty folder with such a name would count as no file, and the competition as one without data.
DATA_FILES = [name + end for name in ("private/answers.csv", SAMPLE_FILE) for end in ("", ".gz")]
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# The files next to these folders, and the greatest size of each in bytes.
TOP_FILES = {
    "competition.toml": MEGABYTE,
    "description.md": 4 * MEGABYTE,
    "metric.py": MEGABYTE,
    "leaderboard.csv": 64 * MEGABYTE,
    "README.md": 4 * MEGABYTE,
    "prepare.py": MEGABYTE,
    "provenance.json": MEGABYTE,
    "manifest.json": 512 * MEGABYTE,  # a line for each file
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file in the source folder `source`; `path` is its path below it, with `/`."""

    source: Path
    path: str

    @property
    def is_unpacked(self) -> bool:
        """Whether it is stored unpacked."""
        return "/" in self.path and self.path.endswith(UNPACKED)

    @property
    def staged(self) -> str:
        """Its path in the staging directory."""
        return self.path.removesuffix(".gz") if self.is_unpacked else self.path


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file in the staging directory; `sha256` in hexadecimal, `bytes` as stored."""

    path: str
    bytes: int
    sha256: str


def list_files(source: Path, *, max_files: int) -> list[SourceFile]:
    """Every file of a competition folder, sorted by path.

    Raises:
        BadCompetition: a file is at no known place or is not a plain file; the error lists all.
    """
    entries: list[SourceFile] = []
    problems: list[dict[str, str]] = []
    waiting = [""]
    seen = 0
    while waiting:
        folder = waiting.pop()
        for found in _listing(source, folder):
            path = f"{folder}/{found.name}" if folder else found.name
            if is_junk(path):
                continue
            seen += 1
            if seen > max_files:
                raise BadCompetition([problem(source.name, "", f"more than {max_files} files")])
            mistake = _mistake(path, found)
            if mistake and not folder and (source / path / "competition.toml").is_file():
                mistake = "is a competition folder of its own; import it by its own path"
            if mistake:
                problems.append(problem(path, "", mistake))
            elif found.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                entries.append(SourceFile(source, path))
    entries.sort(key=lambda entry: entry.path)
    problems += _collisions(entries)
    if problems:
        raise BadCompetition(sorted(problems, key=lambda p: p["file"]))
    return entries


def copy_file(
    entry: SourceFile, staging: Path, *, max_bytes: int, too_large: str, packed: bool = False
) -> StagedFile:
    """Copy one file into `staging`, synced to disk, and unpacked unless it is to stay `packed`.

    Raises:
        BadCompetition: it has more than `max_bytes` (then the message is `too_large`), is damaged,
            is a Git LFS pointer, or cannot be read.
    """
    unpacks = entry.is_unpacked and not packed
    path = entry.staged if unpacks else entry.path
    target = staging / path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with _open_regular(entry) as stored, target.open("xb") as out:
        stream = unpacked(stored) if unpacks else stored
        while chunk := _read(stream, entry):
            if size == 0 and chunk.startswith(GIT_LFS):
                raise BadCompetition([problem(entry.path, "", IS_POINTER)])
            size += len(chunk)
            if size > max_bytes:
                raise BadCompetition([problem(entry.path, "", too_large)])
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    return StagedFile(path, size, digest.hexdigest())


def sync_folders(staging: Path) -> None:
    """Make the names of copied files as durable as their bytes."""
    for folder, _, _ in os.walk(staging):
        sync_directory(Path(folder))


def _listing(source: Path, folder: str) -> Iterator[os.DirEntry[str]]:
    descriptor = _open(source, folder, FOLDER)
    try:
        with os.scandir(descriptor) as listing:
            yield from listing
    finally:
        os.close(descriptor)


def _mistake(path: str, found: os.DirEntry[str]) -> str | None:
    top, _, below = path.partition("/")
    is_folder = found.is_dir(follow_symlinks=False)
    if found.is_symlink():
        return "is a symbolic link; put the file itself here"
    if top in TOP_FILES and not below:
        return None if found.is_file(follow_symlinks=False) else "must be a plain file"
    if top not in FOLDERS:
        known = ", ".join((*TOP_FILES, *(f"{p}/" for p in FOLDERS)))
        return f"does not belong in a competition folder, which has {known}; remove it"
    if not below:
        return None if is_folder else "must be a folder"
    mistake = name_mistake(below)
    if mistake:
        return mistake
    if path in DATA_FILES and is_folder:
        return "must be a plain file"
    if not (found.is_file(follow_symlinks=False) or is_folder):
        return "is neither a plain file nor a folder"
    return None


def _collisions(entries: Iterable[SourceFile]) -> list[dict[str, str]]:
    staged: set[str] = set()
    folders: set[str] = set()
    problems = []
    for entry in entries:
        if entry.staged in staged:
            problems.append(
                problem(entry.path, "", f"{entry.staged} is there too, and this unpacks to it")
            )
        staged.add(entry.staged)
        parts = entry.path.split("/")
        folders.update("/".join(parts[:end]) for end in range(1, len(parts)))
    return problems + [
        problem(path, "", "is a folder, and a packed file unpacks to it")
        for path in sorted(staged & folders)
    ]


def _open(source: Path, path: str, flags: int) -> int:
    """A descriptor of the file or folder at a path below `source`, without following links.

    The folder may belong to another user, who may change it meanwhile: with a link in place of
    `public`, files of the user who imports it would be copied.

    Raises:
        BadCompetition: it went away, cannot be read, or a link leads to it.
    """
    descriptor = os.open(source, FOLDER)
    *folders, name = path.split("/")
    try:
        for part, how in (*((each, FOLDER) for each in folders), (name, flags)):
            outer = descriptor
            descriptor = os.open(part or ".", how | os.O_NOFOLLOW, dir_fd=outer)
            os.close(outer)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            mistake = "is a symbolic link, or below one"
        elif isinstance(error, PermissionError | FileNotFoundError):
            mistake = f"cannot be read: {error.strerror}"
        else:
            raise
        raise BadCompetition([problem(path, "", mistake)]) from None
    return descriptor


def _open_regular(entry: SourceFile) -> IO[bytes]:
    # The file may have been replaced meanwhile; this does not wait for a pipe.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = _open(entry.source, entry.path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise BadCompetition([problem(entry.path, "", "is not a plain file")])


def _read(stream: IO[bytes], entry: SourceFile) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        message = f"is not a complete gzip file ({error})"
        raise BadCompetition([problem(entry.path, "", message)]) from None
