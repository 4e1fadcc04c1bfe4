from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from sqlalchemy.exc import StatementError

from app.storage.queries import experiments
from tests.storage.make import NOON, make_experiment


def kept(database, **over):
    made = make_experiment("aide", **over)
    database.write(lambda s: experiments.add(s, made))
    with database.read() as session:
        return experiments.get(session, "aide")


@pytest.mark.parametrize(
    "moment",
    [
        NOON,
        datetime(2026, 3, 1, tzinfo=UTC),
        datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=-11, minutes=-30))),
    ],
)
def test_a_moment_comes_back_the_same_and_in_utc(database, moment):
    found = kept(database, created_at=moment).created_at

    assert found == moment
    assert found.utcoffset() == timedelta(0)


def test_a_time_without_a_zone_is_refused(database):
    with pytest.raises(StatementError, match="without a zone"):
        kept(database, created_at=datetime(2026, 3, 1))  # noqa: DTZ001


def test_not_a_number_is_no_json(database):
    with pytest.raises((StatementError, ValueError), match="JSON"):
        kept(database, resources={"hours": float("nan")})


def test_a_date_in_a_document_becomes_its_text(database):
    found = kept(database, resources={"captured_at": date(2024, 8, 1)})

    assert found.resources == {"captured_at": "2024-08-01"}


def test_documents_keep_any_text_and_exact_numbers(database):
    document = {"text": "ünï\n\x00\ud800", "score": 0.1 + 0.2, "big": 2**60, "none": None}

    assert kept(database, resources=document).resources == document
