"""Note in files which submissions graders have, for the case that the server dies.

An empty file `grading/<id>` in the data directory exists from the moment when a grader gets a
submission until it replies; the outcome may then wait for the database. Many more submissions are
claimed than are graded at a time, but only those with such a file can be the reason why a server
died. The files are not synced to disk: they are needed after the death of a process, not after a
crash of the machine.

If the file system has links, all are links to one file. To make and remove separate files would
cost more, because ext4 searches for an inode that was not removed in the last seconds.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from app.settings import Settings
from app.storage.blobs.links import link_or_copy

DIRECTORY = "grading"  # in the data directory: it has submissions only
NOTE = "grading.note"  # next to that directory
log = logging.getLogger("podium.worker")


def begin(settings: Settings, submission_id: str) -> None:
    """Note that a grader gets this submission."""
    try:
        os.link(settings.data_dir / NOTE, _file(settings, submission_id))
    except FileExistsError:
        pass  # it is noted already
    except OSError:
        _begin_the_first(settings, submission_id)


def _begin_the_first(settings: Settings, submission_id: str) -> None:
    """Note a submission in a directory that may be new, or may not support links."""
    note, path = settings.data_dir / NOTE, Path(_file(settings, submission_id))
    try:
        path.parent.mkdir(exist_ok=True)
        note.touch()
        link_or_copy(note, path)
    except OSError as error:
        log.warning("cannot note what is graded", extra={"reason": error.strerror})


def end(settings: Settings, submission_id: str) -> None:
    """Note that a grader has replied, or that the grading was interrupted."""
    with contextlib.suppress(OSError):  # a note that stays counts one death too many, at worst
        os.unlink(_file(settings, submission_id))  # noqa: PTH108 (a Path costs more than the call)


def clear(settings: Settings) -> None:
    """Remove all notes."""
    for submission_id in noted(settings):
        end(settings, submission_id)


def noted(settings: Settings) -> frozenset[str]:
    """The submissions on which a grader worked when the last server ended."""
    try:
        return frozenset(path.name for path in _directory(settings).iterdir())
    except FileNotFoundError:
        return frozenset()


def _directory(settings: Settings) -> Path:
    return settings.data_dir / DIRECTORY


def _file(settings: Settings, submission_id: str) -> str:
    return f"{settings.data_dir}/{DIRECTORY}/{submission_id}"
