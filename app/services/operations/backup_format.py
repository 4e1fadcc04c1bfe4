"""The files of a backup's folder, and the check that a backup is complete.

manifest.json           version, time, schema, and each table's file; written last
tables/<table>.jsonl.gz one row per line
blobs.jsonl.gz          digest and bytes of every stored file
blobs/ab/cdef...        the stored files, named by their SHA-256
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from gzip import BadGzipFile
from itertools import groupby
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.domain.wording import first_few
from app.errors import Invalid
from app.regular_file import file_digest
from app.storage.blobs.store import path_of
from app.storage.database.jsonl import KINDS, JsonLinesFile, read_lines
from app.storage.database.revisions import known_revisions
from app.thread_pool import map_concurrently

FORMAT = 1
MANIFEST, TABLES, BLOBS, BLOB_LIST = "manifest.json", "tables", "blobs", "blobs.jsonl.gz"
PARALLEL_READS = 4  # files read at the same time
SHOWN_PROBLEMS = 10  # in an error text
LARGEST_MANIFEST = 1 << 20  # bytes; it has a few kilobytes for each table
# What reading rows may raise that Podium did not write.
UNREADABLE = (ValueError, TypeError, LookupError, RecursionError, EOFError, BadGzipFile, zlib.error)
Progress = Callable[[str, int, int], None]  # the step, the amount just done, the total amount


class BadBackup(Invalid):
    """This backup cannot be restored."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table's file: its columns with their kinds, and the file's size and digest."""

    name: str
    columns: dict[str, str]
    file: JsonLinesFile


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The description of a backup. `schema` is the schema's revision of its rows."""

    format: int
    podium: str
    schema: str
    made_at: str
    database: str
    tables: tuple[TableFile, ...]
    blobs: JsonLinesFile
    blob_bytes: int

    def rows(self) -> int:
        """The total number of rows."""
        return sum(table.file.rows for table in self.tables)

    def as_json(self) -> str:
        """The text of manifest.json."""
        return json.dumps(asdict(self), indent=2) + "\n"


MANIFESTS = TypeAdapter(BackupManifest)


def table_file(folder: Path, name: str) -> Path:
    """The path of a table's rows."""
    return folder / TABLES / f"{name}.jsonl.gz"


def blob_file(folder: Path, sha256: str) -> Path:
    """The path of a stored file."""
    blob_path = path_of(sha256)
    return folder / BLOBS / blob_path.directory / blob_path.file


def verified(folder: Path, progress: Progress) -> BackupManifest:
    """Read and verify every file of a backup. Returns its manifest.

    Raises:
        BadBackup: files are missing, damaged or unexpected (the text names them), or a newer
            Podium made the backup.
    """
    manifest = _manifest(folder)
    problems = list(_problems_of_tables(folder, manifest))
    if not problems:  # then the list of stored files is as the manifest says
        try:
            problems = list(_problems_of_blobs(folder, manifest, progress))
        except UNREADABLE as error:
            raise BadBackup(f"{folder / BLOB_LIST} is damaged: {error}") from None
    if problems:
        raise BadBackup(
            f"The backup in {folder} was changed: {first_few(problems, SHOWN_PROBLEMS, '; ')}. "
            "Nothing was restored: use another copy of it, or another backup."
        )
    return manifest


def _manifest(folder: Path) -> BackupManifest:
    if not (folder / MANIFEST).is_file():
        raise BadBackup(
            f"{folder} is not a backup, or it is unfinished: it has no {MANIFEST}, which is "
            "written last."
        )
    try:
        with (folder / MANIFEST).open("rb") as file:
            text = file.read(LARGEST_MANIFEST + 1)
        if len(text) > LARGEST_MANIFEST:
            raise ValueError(f"it is larger than {LARGEST_MANIFEST} bytes")
        document = json.loads(text)
        is_newer = document["format"] > FORMAT
        manifest = None if is_newer else MANIFESTS.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadBackup(f"{folder / MANIFEST} is damaged: {place}: {first['msg']}") from None
    except UNREADABLE as error:
        raise BadBackup(f"{folder / MANIFEST} is damaged: {error}") from None
    if manifest is None or manifest.schema not in known_revisions():
        raise BadBackup(
            f"The backup in {folder} was made by Podium {document.get('podium', '?')}, whose "
            f"schema ({document.get('schema', '?')}) this Podium does not know: restore it with "
            "that version or a newer one."
        )
    unknown = {kind for table in manifest.tables for kind in table.columns.values()} - KINDS.keys()
    if unknown:
        raise BadBackup(f"{folder / MANIFEST} is damaged: it has columns of {sorted(unknown)}")
    return manifest


def _problems_of_tables(folder: Path, manifest: BackupManifest) -> Iterator[str]:
    expected = {f"{table.name}.jsonl.gz": table.file for table in manifest.tables}
    for name, file in expected.items():
        yield from _file_problems(folder / TABLES / name, file.bytes, file.sha256)
    yield from _file_problems(folder / BLOB_LIST, manifest.blobs.bytes, manifest.blobs.sha256)
    yield from _unexpected_files(folder / TABLES, set(expected))
    yield from _unexpected_files(folder, {MANIFEST, TABLES, BLOBS, BLOB_LIST})


def _problems_of_blobs(folder: Path, manifest: BackupManifest, progress: Progress) -> Iterator[str]:
    def check(line: tuple[str, int]) -> list[str]:
        sha256, size = line
        progress("verifying files", size, manifest.blob_bytes)
        return list(_file_problems(blob_file(folder, sha256), size, sha256))

    seen, count = set(), 0
    for directory, lines in groupby(
        _lines_by_digest(folder), key=lambda line: path_of(line[0]).directory
    ):
        expected = [(sha256, size) for sha256, size in lines]
        seen.add(directory)
        count += len(expected)
        for found in map_concurrently(check, expected, concurrency=PARALLEL_READS):
            yield from found
        yield from _unexpected_files(
            folder / BLOBS / directory, {path_of(sha256).file for sha256, _ in expected}
        )
    yield from _unexpected_files(folder / BLOBS, seen)
    if count != manifest.blobs.rows:
        yield f"{folder / BLOB_LIST} lists {count} files, and {MANIFEST} {manifest.blobs.rows}"


def _lines_by_digest(folder: Path) -> Iterator[tuple[str, int]]:
    """The lines of the list of stored files, which is sorted.

    A line that is repeated millions of times takes few bytes when packed, and would fill the
    memory.
    """
    before = ""
    for sha256, size in read_lines(folder / BLOB_LIST):
        if sha256 <= before:
            raise ValueError(f"{sha256} stands twice in it, or is out of order")
        before = sha256
        yield sha256, size


def _file_problems(path: Path, size: int, sha256: str) -> Iterator[str]:
    try:
        # Checked before it is read: a sparse file may have any size, and would take hours to read.
        if path.is_file() and path.stat().st_size != size:
            yield f"{path} is damaged"
            return
        found = file_digest(path)
    except (FileNotFoundError, NotADirectoryError):
        yield f"{path} is missing"
        return
    except OSError as error:
        yield f"{path} cannot be read: {error.strerror}"
        return
    if found != (size, sha256):
        yield f"{path} is damaged"


def _unexpected_files(directory: Path, expected: set[str]) -> Iterator[str]:
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        if path.name not in expected:
            yield f"{path} is not of this backup"
