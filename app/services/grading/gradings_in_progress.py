"""Which submissions are in a grader's hands just now, in files that survive the server's death.

An empty file `grading/<id>` in the data directory is there from the moment a grader gets a
submission until its reply is there; the outcome may then wait for the database. Many more
submissions are claimed than are graded at a time; only those with such a file may be why a server
died. The files are not flushed to disk: they are about the death of a process, and not of a
machine.

All are links to one file, where the file system has links. To make and remove a file for each would
cost more: ext4 looks for an inode that was not removed in the last seconds.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

from app.settings import Settings
from app.storage.blobs.links import link_or_copy

NOTE = "grading.note"  # in the data directory: `grading` has submissions only
log = logging.getLogger("podium.worker")


def begin(settings: Settings, submission_id: str) -> None:
    """Note that a grader gets this submission."""
    path, note = _directory(settings) / submission_id, settings.data_dir / NOTE
    try:
        try:
            link_or_copy(note, path)
        except FileNotFoundError:  # the first one
            path.parent.mkdir(exist_ok=True)
            note.touch()
            link_or_copy(note, path)
    except FileExistsError:
        pass  # it is noted already
    except OSError as error:
        log.warning("cannot note what is graded", extra={"reason": error.strerror})


def end(settings: Settings, submission_id: str) -> None:
    """Note that a grader has replied, or that nothing was decided."""
    with contextlib.suppress(OSError):  # a note too many counts one death too many, at worst
        (_directory(settings) / submission_id).unlink(missing_ok=True)


def clear(settings: Settings) -> None:
    """Remove all notes."""
    for submission_id in noted(settings):
        end(settings, submission_id)


def noted(settings: Settings) -> frozenset[str]:
    """The submissions that were in a grader's hands when the last server ended."""
    try:
        return frozenset(path.name for path in _directory(settings).iterdir())
    except FileNotFoundError:
        return frozenset()


def _directory(settings: Settings) -> Path:
    return settings.data_dir / "grading"
