"""Render pictures in a separate process, one at a time, and cache the latest."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from typing import Any, Literal

from cachetools import LRUCache

from app.errors import Invalid, PodiumError, Unavailable
from app.pictures.picture import Picture

Format = Literal["svg", "png", "pdf", "vl.json", "csv"]
MEDIA_TYPES: dict[str, str] = {
    "svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf",
    "vl.json": "application/json", "csv": "text/csv; charset=utf-8",
}  # fmt: skip
KEPT_BYTES = 32 * 1024 * 1024
SECONDS = 90.0  # of one rendering
WAITING_SECONDS = 60.0  # for the renderings before it
MAX_AT_ONCE = 5  # one is rendered and the others wait, each in a thread that submissions need too
# Of pictures whose area grows with their rows: 75,000 cells took 2 GB and 31 s of a processor, and
# 1,000 competitions 750 MB. The renderer fails on an axis of some 5,000 names.
MOST_ROWS = {"heat-map": 10_000, "comparison": 500, "medal-rates": 500}
MOST_NAMES = 1000  # names on one axis
BUSY = "Other pictures are being rendered; try again in a minute."


class RenderingFailed(PodiumError):
    """A picture could not be rendered."""


class Renderer:
    """Renders for one process of Podium. The same data is rendered once, by its digest."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._places = threading.BoundedSemaphore(MAX_AT_ONCE)
        self._kept: LRUCache[str, bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
        self._lock = threading.Lock()

    def render(self, picture: Picture, form: Format) -> tuple[bytes, str]:
        """The picture's bytes, or its numbers as CSV, and the digest of what they show.

        Raises:
            Unavailable: too many pictures are waiting.
            Invalid: it has too many rows to be drawn; the CSV has all of them.
            RenderingFailed: the process ended without a picture.
        """
        request = json.dumps(
            {"kind": picture.kind, "format": form, "data": picture.data}, sort_keys=True
        ).encode()
        digest = hashlib.sha256(request).hexdigest()
        if form == "csv":
            return picture.csv(), digest
        _refuse_large(picture)
        found = self._known(digest)
        if found is not None:
            return found, digest
        if not self._places.acquire(blocking=False):
            raise Unavailable(BUSY)
        try:
            found = self._rendered(digest, request)
        finally:
            self._places.release()
        with self._lock:
            if len(found) <= KEPT_BYTES:
                self._kept[digest] = found
        return found, digest

    def _rendered(self, digest: str, request: bytes) -> bytes:
        if not self._turn.acquire(timeout=WAITING_SECONDS):
            raise Unavailable(BUSY)
        try:
            # The previous picture may have been the same.
            return self._known(digest) or _run(request)
        finally:
            self._turn.release()

    def _known(self, digest: str) -> bytes | None:
        with self._lock:
            return self._kept.get(digest)


def _refuse_large(picture: Picture) -> None:
    rows = picture.values.get("rows", ())
    if picture.kind not in MOST_ROWS:
        return
    most = MOST_ROWS[picture.kind]
    names = max(len({row.get(axis) for row in rows}) for axis in ("competition", "seed"))
    if len(rows) > most or names > MOST_NAMES:
        raise Invalid(
            f"The picture would have {len(rows):,} rows, and {names:,} names at an axis; at most "
            f"{most:,} and {MOST_NAMES:,} are drawn. Name a suite of fewer competitions, or take "
            "the numbers as CSV (.csv)."
        )


def _run(request: bytes) -> bytes:
    command = [sys.executable, "-m", "app.pictures.program"]
    try:
        done = subprocess.run(  # noqa: S603 (our own program)
            command, input=request, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise RenderingFailed(f"The picture took more than {SECONDS:.0f} seconds.") from None
    if done.returncode != 0:
        why: Any = done.stderr.decode(errors="replace")[-2000:]
        raise RenderingFailed(f"The renderer ended with status {done.returncode}: {why}")
    return done.stdout
