"""Reserve a submission in its run's quotas before its bytes are stored.

A submission may be refused when its row is written. By then its bytes are in the store, and cannot
be removed safely, because another submission may have the same bytes. So the same conditions are
checked before. A submission whose row is not written yet has a reservation, so that of two that
arrive together only one can be the last that the quota allows.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from app.errors import PodiumError, QuotaExceeded
from app.services.runtime.failure_quota import FailureQuota
from app.services.runtime.run_limits import (
    refuse_closed,
    refuse_other_file,
    refuse_over_quota,
)
from app.services.runtime.stored_bytes import StoredBytes
from app.storage.blobs.upload import Blob
from app.storage.database.database import Database
from app.storage.database.records import RunRecord
from app.storage.queries import submissions


@dataclass(frozen=True, slots=True)
class WantedPlace:
    """A submission that is not stored yet: its run, its bytes, and its key."""

    run: RunRecord
    blob: Blob
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation in a run. Call `release` once the row is written, or if it never will be.

    The result of `released` is whether it was.
    """

    idempotency_key: str | None = None
    stores: bool = True  # not if these bytes came before with the same key
    released: Future[bool] = field(default_factory=Future)

    def release(self, *, is_stored: bool = False) -> None:
        """Release the submission, and also its bytes unless they are stored. May be repeated."""
        if not self.released.done():
            self.released.set_result(is_stored)


@dataclass(frozen=True, slots=True)
class Undecided:
    """It depends on a submission whose row is being written. Try again when `until` is done."""

    until: Future[bool]


Outcome = Reservation | Undecided | PodiumError


class Reservations:
    """The submissions of this process whose rows are not written yet."""

    def __init__(self, step: float, stored: StoredBytes, failures: FailureQuota) -> None:
        """`step` is PODIUM_OUTCOME_STEP_SECONDS."""
        self._step = step
        self.stored = stored
        self.failures = failures
        self._lock = threading.Lock()
        self._by_run: dict[str, list[Reservation]] = {}

    def reserve(
        self, database: Database, wanted: Sequence[WantedPlace], now: datetime
    ) -> list[Outcome]:
        """Make a reservation for each submission. Errors are returned, not raised.

        The errors are RunClosed, QuotaExceeded, TooManyFailures and IdempotencyMismatch. Several
        processes that serve one run do not know each other's reservations: then the row's
        transaction decides.
        """
        made: list[Reservation] = []
        try:
            found = self._reserve(database, wanted, now, made)
            return [
                self._count_bytes(database, one, outcome)
                for one, outcome in zip(wanted, found, strict=True)
            ]
        except BaseException:
            # The database was lost after some reservations. Nobody else would release them, and a
            # request that sends one of their keys again would wait for ever.
            for reservation in made:
                reservation.release()
            raise

    def _count_bytes(self, database: Database, wanted: WantedPlace, found: Outcome) -> Outcome:
        if not isinstance(found, Reservation) or not found.stores:
            return found
        try:
            give_back = self.stored.add(database, wanted.run.id, wanted.blob.bytes)
        except PodiumError as refusal:
            found.release()
            return refusal
        found.released.add_done_callback(lambda end: None if end.result() else give_back())
        return found

    def _reserve(
        self,
        database: Database,
        wanted: Sequence[WantedPlace],
        now: datetime,
        made: list[Reservation],
    ) -> list[Outcome]:
        """The results for these submissions. Adds the reservations to `made` as it makes them."""
        if not any(
            one.run.limits or one.idempotency_key or self.failures.may_refuse(database, one.run)
            for one in wanted
        ):
            return [Reservation() for _ in wanted]
        # Lock before the session begins: then the session sees every row that was written before
        # its reservation was released.
        with self._lock:
            self._forget_released()
            pending = {one.run.id: self._by_run.get(one.run.id, []) for one in wanted}
            with database.read() as session:
                return [
                    self._decide(session, one, pending[one.run.id], now, made) for one in wanted
                ]

    def _forget_released(self) -> None:
        """Forget released reservations of all runs, since a run may send no more files.

        A future keeps its callbacks, and they keep the files of requests that waited for it.
        """
        still = {
            run_id: [one for one in made if not one.released.done()]
            for run_id, made in self._by_run.items()
        }
        self._by_run = {run_id: made for run_id, made in still.items() if made}

    def _decide(
        self,
        session: Session,
        wanted: WantedPlace,
        pending: list[Reservation],
        now: datetime,
        made: list[Reservation],
    ) -> Outcome:
        run, key = wanted.run, wanted.idempotency_key
        try:
            if key is not None:
                for one in pending:
                    if one.idempotency_key == key:
                        return Undecided(one.released)
                known = submissions.by_idempotency_key(session, run.id, key)
                if known is not None:
                    refuse_other_file(known, wanted.blob.sha256)
                    return Reservation(stores=False)
            refuse_closed(run, now)
            self._refuse_over_quotas(session, run, now)
        except PodiumError as refusal:
            return refusal
        if pending:
            try:
                self._refuse_over_quotas(session, run, now, accepted=len(pending))
            except QuotaExceeded:
                return Undecided(pending[0].released)
        reservation = Reservation(key)
        made.append(reservation)
        pending.append(reservation)
        self._by_run[run.id] = pending
        return reservation

    def _refuse_over_quotas(
        self, session: Session, run: RunRecord, now: datetime, *, accepted: int = 0
    ) -> None:
        refuse_over_quota(session, run, now, accepted=accepted, step=self._step)
        self.failures.refuse(session, run, now, accepted=accepted)
