"""A journal of small files: one sync makes many files survive a crash of the machine.

A journal is a sequence of records, each a head and a body. The last record of an abandoned journal
may be incomplete, and a disk may have changed any of them since. Recovery writes again each file of
a journal that is missing.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from app.errors import StoreAway
from app.regular_file import open_regular
from app.storage.blobs.disk import DiskBlobs
from app.sync_directory import sync_directory
from app.system_limits import is_used_up
from app.thread_pool import map_concurrently

JOURNALS = "journals"  # the directory of journals in the store's directory
MAX_BODY_BYTES = 1024 * 1024
BUFFERS_PER_WRITE = 1000  # buffers for one writev; the kernel's limit is 1024
_HEAD = struct.Struct("<8sQ32s")  # a mark, the body's length, its SHA-256
_MARK = b"podium\r\n"
CONCURRENT_SYNCS = 16
SEARCHED_BYTES = 64 * 1024
log = logging.getLogger("podium.storage")


class Journal:
    """The journal of a live process. It has a lock, which the kernel releases if it dies."""

    def __init__(self, directory: Path) -> None:
        """Begin a journal.

        Raises:
            OSError: the file cannot be made, or the disk is full.
        """
        self._descriptor = -1
        while self._descriptor < 0 or not os.fstat(self._descriptor).st_nlink:
            self.close()  # another process recovered and removed it before it was locked
            self.path = directory / uuid.uuid4().hex
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        self.bytes = 0
        try:
            sync_directory(directory)
        except OSError:
            self.close()
            raise

    def append(self, bodies: Sequence[tuple[bytes, bytes]]) -> None:
        """Append pairs of SHA-256 and body. They are synced to disk when this returns.

        Raises:
            OSError: only some may be written. Append nothing more then: a record after an
                incomplete one cannot be read.
        """
        buffers: list[bytes] = []
        for digest, body in bodies:
            buffers += (_HEAD.pack(_MARK, len(body), digest), body)
        for start in range(0, len(buffers), BUFFERS_PER_WRITE):
            self._write(buffers[start : start + BUFFERS_PER_WRITE])
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Release the journal, so that other processes may recover it. May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, buffers: Sequence[bytes]) -> None:
        written = os.writev(self._descriptor, buffers)
        self.bytes += written
        if written < sum(map(len, buffers)):  # the disk is nearly full: the next write raises
            remaining = memoryview(b"".join(buffers))[written:]
            while remaining:
                written = os.write(self._descriptor, remaining)
                remaining = remaining[written:]


def is_abandoned(file: BinaryIO) -> bool:
    """Whether a dead process left this journal. If so, this process locks it until it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # No link is left if another process recovered it after it was opened here.
    return os.fstat(file.fileno()).st_nlink > 0


@dataclass(frozen=True, slots=True)
class Record:
    """A file in a journal. `is_behind_damage`: a record before it was damaged."""

    sha256: str
    body: bytes
    is_behind_damage: bool


def records(file: BinaryIO) -> Iterator[Record]:
    """The complete records of a journal.

    Changed bytes damage only their own record. An agent can send a file that contains a record. If
    the record of that file is damaged, the record in it is found too, and becomes an additional
    file, which no row names.
    """
    place: int | None = 0
    is_damaged = False
    while place is not None:
        found = _record_at(file, place)
        if found is not None:
            yield Record(*found, is_behind_damage=is_damaged)
            place = file.tell()
            continue
        damaged, place = place, _next_mark(file, place + 1)
        if place is not None:  # otherwise it is the incomplete end
            is_damaged = True
            log.error("a journal has a damaged record", extra={"path": file.name, "at": damaged})


def _record_at(file: BinaryIO, place: int) -> tuple[str, bytes] | None:
    """The SHA-256 and the body of the record that begins there. Reads to the record's end."""
    file.seek(place)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    mark, length, digest = _HEAD.unpack(head)
    if mark != _MARK or length > MAX_BODY_BYTES:
        return None
    body = file.read(length)
    return (digest.hex(), body) if hashlib.sha256(body).digest() == digest else None


def _next_mark(file: BinaryIO, start: int) -> int | None:
    """The position of the first mark after `start`."""
    file.seek(start)
    kept = b""
    while piece := file.read(SEARCHED_BYTES):
        window = kept + piece
        found = window.find(_MARK)
        if found >= 0:
            return file.tell() - len(window) + found
        kept = window[1 - len(_MARK) :]
    return None


def recover_abandoned(store: DiskBlobs) -> int:
    """Recover the journals that dead processes left. Returns the number of rewritten files.

    After that every stored file is at its path in the store, except those that cannot be written
    there now, and those of a journal that cannot be read now.
    """
    rewritten = 0
    for path in sorted(store.root.glob(f"{JOURNALS}/*")):
        try:
            journal = open_regular(path)
        except FileNotFoundError:  # another process has just recovered it
            continue
        except OSError as error:
            _log_unreadable(path, error)
            continue
        with journal:
            if is_abandoned(journal):
                rewritten += recover(store, path)
    if rewritten:
        log.warning("rewrote files that were lost in a crash", extra={"files": rewritten})
    return rewritten


def recover(store: DiskBlobs, path: Path) -> int:
    """Recover a journal that this process has locked. Returns the number of rewritten files.

    This number does not include files after a damaged record, which the log names. A journal stays
    for the next start if it cannot be read to its end, or if one of its files cannot be written
    now.

    Most of the files are on disk already. But each sync waits until the disk has flushed its cache,
    and concurrent syncs share one flush.
    """
    rewritten, is_recovered = 0, True
    directories = set()

    def readable(journal: BinaryIO) -> Iterator[Record]:
        nonlocal is_recovered
        try:
            yield from records(journal)
        except OSError as error:
            _log_unreadable(path, error)
            is_recovered = False  # files before the damage do not wait for the others

    with path.open("rb") as journal:
        for record, is_missing in map_concurrently(
            partial(_sync, store), readable(journal), concurrency=CONCURRENT_SYNCS
        ):
            blob_path = store.path(record.sha256)
            directories.add(blob_path.parent)
            if not is_missing:
                continue
            try:
                blob_path.unlink(missing_ok=True)
                store.put(record.body)
                if record.is_behind_damage:
                    log.warning("rewrote a lost file", extra={"path": str(blob_path)})
                else:
                    rewritten += 1
            except (OSError, StoreAway) as error:
                if is_used_up(error):
                    raise
                is_recovered = False  # the others do not wait for this one
                log.exception("cannot write a file again", extra={"path": str(blob_path)})
    for _ in map_concurrently(sync_directory, directories, concurrency=CONCURRENT_SYNCS):
        pass
    if is_recovered:
        path.unlink()
    return rewritten


def _log_unreadable(path: Path, error: OSError) -> None:
    if is_used_up(error) or isinstance(error, PermissionError):
        raise error  # this says nothing about the journal, and can be fixed
    log.error(
        "a journal of stored files cannot be read, and stays: %s", path,
        extra={"why": error.strerror},
    )  # fmt: skip


def _sync(store: DiskBlobs, record: Record) -> tuple[Record, bool]:
    """Sync the file of a record. Returns whether it has to be written again."""
    try:
        with open_regular(store.path(record.sha256)) as file:
            if file.read(len(record.body) + 1) != record.body:
                return record, True
            os.fsync(file.fileno())
    except OSError as error:  # missing, or on a damaged part of the disk; the journal has its bytes
        if is_used_up(error):
            raise
        return record, True
    return record, False
