"""Files between their upload and their submission: Kaggle's clients send the two apart."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from app.errors import Conflict, Forbidden
from app.storage.blobs import Upload

HELD_PER_RUN = 4  # a run that uploads and never submits keeps only its latest files here


@dataclass(slots=True)
class Held:
    """An upload that has begun; it has its `upload` once all bytes are there."""

    run_id: str
    until: float
    upload: Upload | None = None


class Uploads:
    """The uploads of this process. One that is never submitted is discarded when its time ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}

    def begin(self, nonce: str, run_id: str, until: float) -> None:
        """Note that bytes for this address are coming.

        Raises:
            Conflict: they came, or are coming, already.
        """
        self._discard_expired()
        with self._lock:
            if nonce in self._held:
                raise Conflict("A file was sent to this address already; submit again for another.")
            self._held[nonce] = Held(run_id, until)

    def keep(self, nonce: str, upload: Upload) -> None:
        """Hold a whole file until it is submitted.

        Raises:
            Forbidden: it came too late.
        """
        with self._lock:
            mine = self._held.get(nonce)
            if mine is None:  # the time was over before the last byte came
                upload.discard()
                raise Forbidden("This address has expired. Run your command again for a new one.")
            mine.upload = upload
            waiting = [h for h in self._held.values() if h.run_id == mine.run_id and h.upload]
            dropped = [h.upload for h in waiting[:-HELD_PER_RUN]]
            for held in waiting[:-HELD_PER_RUN]:
                held.upload = None
        _discard(dropped)

    def forget(self, nonce: str) -> None:
        """The bytes did not come whole: the address may be tried again."""
        with self._lock:
            self._held.pop(nonce, None)

    def take(self, nonce: str, run_id: str) -> Upload | None:
        """The whole file that came for this run, handed out once."""
        with self._lock:
            held = self._held.get(nonce)
            if held is None or held.run_id != run_id or held.upload is None:
                return None
            upload, held.upload = held.upload, None
            return upload

    def close(self) -> None:
        """Discard everything."""
        with self._lock:
            dropped = [held.upload for held in self._held.values()]
            self._held.clear()
        _discard(dropped)

    def _discard_expired(self) -> None:
        now = time.time()
        with self._lock:
            over = [nonce for nonce, held in self._held.items() if held.until < now]
            dropped = [self._held.pop(nonce).upload for nonce in over]
        _discard(dropped)


def _discard(uploads: list[Upload | None]) -> None:
    for upload in uploads:
        if upload is not None:
            upload.discard()
