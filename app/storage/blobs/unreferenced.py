"""Find the files of a store that no row of the database names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class OldFile:
    """A file of a store: a blob, whose name is its digest, or a staged file.

    `place` is its path or URL, for messages.
    """

    name: str
    is_staged: bool
    place: str
    bytes: int


class OldFiles(Protocol):
    """The files of a store that were not changed since a moment (Unix time), and their removal."""

    def now(self) -> float:
        """The time by the clock that sets the files' times, which may be another machine's."""

    def blobs(self, before: float) -> Iterator[OldFile]:
        """The old blobs, in ascending order of their digests."""

    def staged(self, before: float) -> Iterator[OldFile]:
        """The old staged files, sorted by name."""

    def remove(self, file: OldFile, before: float) -> bool:
        """Remove a file, unless it was changed or renewed since `before`. Whether it is gone."""

    def settle(self, named: Iterable[str], before: float) -> None:
        """Undo the removal of blobs that a row names by now.

        `named` are the digests that rows name, in ascending order, read after the removals.
        """


def unreferenced_blobs(files: OldFiles, named: Iterable[str], before: float) -> Iterator[OldFile]:
    """The blobs that were not changed since `before` (Unix time) and are not `named`.

    `named` are the digests that rows name, in ascending order. They must be read from the database
    not long before this begins: a blob that got its row later is newer than `before`.
    """
    remaining = iter(named)
    current = next(remaining, None)
    for file in files.blobs(before):
        while current is not None and current < file.name:
            current = next(remaining, None)
        if current != file.name:
            yield file


def unreferenced_staged(files: OldFiles, named: set[str], before: float) -> Iterator[OldFile]:
    """The staged files that were not changed since `before` and are not `named`."""
    return (file for file in files.staged(before) if file.name not in named)
