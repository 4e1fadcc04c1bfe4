"""Places in runs: reserved before the bytes are stored, for no more files than the quotas allow."""

from __future__ import annotations

import weakref
from dataclasses import replace

import pytest

from app.domain.states import RunState, SubmissionState
from app.errors import QuotaExceeded, RunClosed, TooManyFailures
from app.services.runtime.failure_quota import FailureQuota
from app.services.runtime.own_metrics import OwnMetrics
from app.services.runtime.reservations import (
    Outcome,
    Reservation,
    Reservations,
    Undecided,
    WantedPlace,
)
from app.services.runtime.run_limits import IdempotencyMismatch
from app.services.runtime.stored_bytes import StoredBytes
from app.storage.blobs.store import Blob
from app.storage.database.records import RunRecord
from app.storage.queries.operation import faults
from app.units import MEGABYTE
from tests.storage.make import NOON, World

A, B = "a" * 64, "b" * 64


@pytest.fixture
def reservations() -> Reservations:
    return Reservations(0.0, StoredBytes(limit_mb=1), FailureQuota(2, 0.0, OwnMetrics()))


def reserve(
    reservations: Reservations, here: World, run: RunRecord, *, key: str | None = None,
    sha256: str = A, size: int = 10, files: int = 1,
) -> list[Outcome]:  # fmt: skip
    wanted = [WantedPlace(run, Blob(sha256, size), key)] * files
    return reservations.reserve(here.database, wanted, NOON)


def kinds(outcomes: list[Outcome]) -> list[type]:
    return [type(one) for one in outcomes]


def test_the_last_place_goes_to_one_of_two(here: World, reservations: Reservations) -> None:
    here.submit()
    run = replace(here.run, limits={"submissions_total": 2})

    first, second = reserve(reservations, here, run, files=2)

    assert isinstance(first, Reservation)
    assert isinstance(second, Undecided)
    assert not second.until.done()
    first.release()
    first.release()
    assert second.until.done()
    assert kinds(reserve(reservations, here, run)) == [Reservation]  # the first was never stored


def test_a_full_run_is_refused_at_once(here: World, reservations: Reservations) -> None:
    here.submit()

    full = reserve(reservations, here, replace(here.run, limits={"submissions_total": 1}))
    closed = reserve(
        reservations, here, replace(here.run, state=RunState.CLOSED, limits={"hours": 1})
    )

    assert kinds(full + closed) == [QuotaExceeded, RunClosed]


def test_a_run_that_sends_nothing_more_takes_no_memory(
    here: World, reservations: Reservations
) -> None:
    """Its last reservation would keep the files of requests that waited for it, for ever."""
    [last] = reserve(reservations, here, here.run, key="k")
    assert isinstance(last, Reservation)
    released = weakref.ref(last.released)
    last.release()
    del last

    reserve(reservations, here, here.other_run, key="k")

    assert released() is None


def test_the_same_key_waits_for_the_first_and_then_stores_nothing(
    here: World, reservations: Reservations
) -> None:
    (first,) = reserve(reservations, here, here.run, key="k")
    assert kinds(reserve(reservations, here, here.run, key="k")) == [Undecided]
    here.submit(idempotency_key="k", sha256=A)
    assert isinstance(first, Reservation)
    first.release()

    (again,) = reserve(reservations, here, here.run, key="k")
    assert isinstance(again, Reservation)
    assert not again.stores
    assert kinds(reserve(reservations, here, here.run, key="k", sha256=B)) == [IdempotencyMismatch]
    # The other run's submission with the key `same` is none of this run's.
    assert kinds(reserve(reservations, here, here.run, key="same", sha256=B)) == [Reservation]


def test_a_run_may_store_so_many_bytes_together(here: World, reservations: Reservations) -> None:
    here.submit(bytes=MEGABYTE - 30)

    assert kinds(reserve(reservations, here, here.run, size=30)) == [Reservation]
    (refused,) = reserve(reservations, here, here.run, size=1)
    assert isinstance(refused, QuotaExceeded)
    assert "PODIUM_RUN_STORED_MB" in refused.detail
    assert "1,048,577 bytes together, and a run may store 1,048,576" in refused.detail
    assert kinds(reserve(reservations, here, here.other_run, size=1)) == [Reservation]


def test_a_refusal_for_bytes_gives_its_place_back(here: World, reservations: Reservations) -> None:
    run = replace(here.run, limits={"submissions_total": 1})

    assert kinds(reserve(reservations, here, run, size=2 * MEGABYTE)) == [QuotaExceeded]
    assert kinds(reserve(reservations, here, run)) == [Reservation]


def test_bytes_that_were_not_stored_count_no_more(here: World, reservations: Reservations) -> None:
    """A client tries again while the store is away, and had 429 with a day to wait after some."""
    for _ in range(3):
        (place,) = reserve(reservations, here, here.run, size=MEGABYTE)
        assert isinstance(place, Reservation)
        place.release()
        place.release()  # once

    (stored,) = reserve(reservations, here, here.run, size=MEGABYTE)
    assert isinstance(stored, Reservation)
    stored.release(is_stored=True)
    assert kinds(reserve(reservations, here, here.run, size=1)) == [QuotaExceeded]


def test_places_of_a_group_that_the_database_fails_are_given_back(
    here: World, reservations: Reservations
) -> None:
    cannot_be_sent = "\ud800"  # as if the database were lost at the second of two
    wanted = [WantedPlace(here.run, Blob(A, 10), key) for key in ("k", cannot_be_sent)]

    with pytest.raises(Exception, match="surrogates"):
        reservations.reserve(here.database, wanted, NOON)

    assert kinds(reserve(reservations, here, here.run, key="k")) == [Reservation]


def test_bytes_that_came_before_with_their_key_do_not_count(
    here: World, reservations: Reservations
) -> None:
    here.submit(idempotency_key="k", sha256=A, bytes=MEGABYTE)

    (again,) = reserve(reservations, here, here.run, key="k", size=MEGABYTE)

    assert isinstance(again, Reservation)
    assert not again.stores
    with pytest.raises(QuotaExceeded):
        reservations.stored.require(here.database, here.run.id, 1)
    reservations.stored.require(here.database, here.run.id, 0)


def test_a_run_with_failures_has_places_for_as_many_files_as_may_fail(
    here: World, reservations: Reservations
) -> None:
    failed = here.submit(state=SubmissionState.FAILED, received_at=NOON, settled_at=NOON)
    here.database.write(lambda s: faults.add_fault(s, failed.id, 3, "metric", "", NOON))

    first, second = reserve(reservations, here, here.run, files=2)

    assert isinstance(first, Reservation)
    assert isinstance(second, Undecided)
    here.submit()
    first.release()
    assert kinds(reserve(reservations, here, here.run)) == [TooManyFailures]
    assert kinds(reserve(reservations, here, here.other_run, files=5)) == [Reservation] * 5
