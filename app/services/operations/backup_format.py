"""A backup as it lies in its folder, and whether it is whole.

manifest.json           what made it, when, the schema, and each table's file; written last
tables/<table>.jsonl.gz one row a line
blobs.jsonl.gz          digest and bytes of every stored file
blobs/ab/cdef...        the stored files, named by their SHA-256
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.domain.wording import first_few
from app.errors import Invalid
from app.file_digest import file_digest
from app.storage.blobs.concurrency import map_concurrently
from app.storage.blobs.store import path_of
from app.storage.database import migrations
from app.storage.database.jsonl import KINDS, JsonLinesFile, read_lines

FORMAT = 1
MANIFEST, TABLES, BLOBS, BLOB_LIST = "manifest.json", "tables", "blobs", "blobs.jsonl.gz"
PARALLEL_READS = 4  # files read side by side
NAMED = 10  # problems told
Progress = Callable[[str, int, int], None]  # the step, what was done of it now, what it is in all


class BadBackup(Invalid):
    """This backup cannot be restored."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table's file: its columns with their kinds, and by what the file is known again."""

    name: str
    columns: dict[str, str]
    file: JsonLinesFile


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `schema` is the revision at which its rows were."""

    format: int
    podium: str
    schema: str
    made_at: str
    database: str
    tables: tuple[TableFile, ...]
    blobs: JsonLinesFile
    blob_bytes: int

    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(table.file.rows for table in self.tables)

    def as_json(self) -> str:
        """The text of manifest.json."""
        return json.dumps(asdict(self), indent=2) + "\n"


MANIFESTS = TypeAdapter(Manifest)


def table_file(folder: Path, name: str) -> Path:
    """Where a table's rows are."""
    return folder / TABLES / f"{name}.jsonl.gz"


def blob_file(folder: Path, sha256: str) -> Path:
    """Where a stored file is."""
    place = path_of(sha256)
    return folder / BLOBS / place.directory / place.file


def verified(folder: Path, tell: Progress) -> Manifest:
    """The manifest of a backup of which every file was read and found to be what was written.

    Raises:
        BadBackup: a file is missing, damaged or too many, or a newer Podium made it; says which.
    """
    manifest = _manifest(folder)
    problems = list(_problems_of_tables(folder, manifest))
    if not problems:  # the list of the others is to be trusted
        problems = list(_problems_of_blobs(folder, manifest, tell))
    if problems:
        raise BadBackup(
            f"The backup in {folder} is not what was written: {first_few(problems, NAMED, '; ')}. "
            "Nothing was restored: take another copy of it, or another backup."
        )
    return manifest


def _manifest(folder: Path) -> Manifest:
    try:
        text = (folder / MANIFEST).read_text()
    except (FileNotFoundError, NotADirectoryError):
        raise BadBackup(
            f"{folder} is no backup, or one that was not finished: it has no {MANIFEST}, which is "
            "written last."
        ) from None
    try:
        said = json.loads(text)
        is_newer = said["format"] > FORMAT
        manifest = None if is_newer else MANIFESTS.validate_json(text)
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise BadBackup(f"{folder / MANIFEST} is damaged: {error}") from None
    if manifest is None or manifest.schema not in migrations.known_revisions():
        raise BadBackup(
            f"The backup in {folder} was made by Podium {said.get('podium', '?')}, whose schema "
            f"({said.get('schema', '?')}) this Podium does not know: restore it with that version "
            "or a newer one."
        )
    unknown = {kind for table in manifest.tables for kind in table.columns.values()} - KINDS.keys()
    if unknown:
        raise BadBackup(f"{folder / MANIFEST} is damaged: it has columns of {sorted(unknown)}")
    return manifest


def _problems_of_tables(folder: Path, manifest: Manifest) -> Iterator[str]:
    expected = {f"{table.name}.jsonl.gz": table.file for table in manifest.tables}
    for name, file in expected.items():
        yield from _problem(folder / TABLES / name, file.bytes, file.sha256)
    yield from _problem(folder / BLOB_LIST, manifest.blobs.bytes, manifest.blobs.sha256)
    yield from _too_many(folder / TABLES, set(expected))
    yield from _too_many(folder, {MANIFEST, TABLES, BLOBS, BLOB_LIST})


def _problems_of_blobs(folder: Path, manifest: Manifest, tell: Progress) -> Iterator[str]:
    def check(line: tuple[str, int]) -> list[str]:
        sha256, size = line
        tell("verifying files", size, manifest.blob_bytes)
        return list(_problem(blob_file(folder, sha256), size, sha256))

    seen = set()
    listed = read_lines(folder / BLOB_LIST)
    for directory, lines in groupby(listed, key=lambda line: path_of(line[0]).directory):
        ours = [(sha256, size) for sha256, size in lines]
        seen.add(directory)
        for found in map_concurrently(check, ours, at_once=PARALLEL_READS):
            yield from found
        yield from _too_many(
            folder / BLOBS / directory, {path_of(sha256).file for sha256, _ in ours}
        )
    yield from _too_many(folder / BLOBS, seen)


def _problem(path: Path, size: int, sha256: str) -> Iterator[str]:
    try:
        found = file_digest(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        yield f"{path} is missing"
        return
    if found != (size, sha256):
        yield f"{path} is damaged"


def _too_many(directory: Path, expected: set[str]) -> Iterator[str]:
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        if path.name not in expected:
            yield f"{path} is not of this backup"
