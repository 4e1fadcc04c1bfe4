"""Errors that end a download."""

from __future__ import annotations

from app.errors import Conflict, NotFound, PodiumError, Unavailable


class DownloadGone(NotFound):
    """The file is no longer there for download."""


class DownloadChanged(Conflict):
    """The file was replaced by another one while it was downloaded."""


class NoRanges(Unavailable):
    """The server does not send parts of a file."""


class DamagedDownload(PodiumError):
    """The download was damaged twice."""
