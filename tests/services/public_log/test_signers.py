"""Which key signs, from when and until when, also where a clock was set back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.receipts import ed25519
from app.receipts.sshsig import RECEIPT_NAMESPACE
from app.services.public_log.signers import PresentKey, present_key, retire, signer_of
from app.services.runtime.context import Context
from app.storage.database.dump import SIGNING_KEY
from app.storage.database.tables.operation import Secret
from app.storage.queries.trust import log, signing_keys
from app.storage.queries.trust.log import LogEntryRecord
from app.storage.queries.trust.signing_keys import SigningKeyRecord

AHEAD = datetime(2100, 1, 1, 12, 0, 0, 999_999, tzinfo=UTC)


def present(context: Context) -> PresentKey:
    return context.database.write(lambda session: present_key(context, session))


def keys(context: Context) -> list[SigningKeyRecord]:
    with context.database.read() as session:
        return signing_keys.all_keys(session)


def log_ahead(session: Session) -> None:
    """Store an entry of a server whose clock was ahead."""
    log.add_entry(session, LogEntryRecord(number=0, kind="x", leaf="x", record=None, at=AHEAD))


def test_the_first_key_signs_until_it_is_retired(context: Context) -> None:
    first = present(context)
    assert first.record.public == ed25519.public_key(first.private)
    assert (first.is_new, first.record.name[:7]) == (True, "podium-")
    again = present(context)
    assert (again.record, again.private, again.is_new) == (first.record, first.private, False)

    context.database.write(lambda session: retire(session, first.record))
    second = present(context)
    assert second.is_new
    assert (second.record.name, second.record.id) == (first.record.name, keys(context)[1].id)
    ended = keys(context)[0].valid_before
    assert ended is not None
    assert ended.microsecond == 0
    assert ended > first.record.valid_after


def test_a_revoked_key_and_one_without_its_private_part_do_not_sign(context: Context) -> None:
    first = present(context).record
    context.database.write(
        lambda session: signing_keys.revoke(session, first.id, datetime.now(UTC), "stolen")
    )
    second = present(context).record
    context.database.write(
        lambda session: session.execute(
            delete(Secret.__table__).where(Secret.__table__.c.name == SIGNING_KEY + second.id)
        )
    )
    third = present(context).record

    assert [one.id for one in keys(context)] == [first.id, second.id, third.id]
    assert [one.valid_before is None for one in keys(context)] == [True, False, True]


def test_nothing_is_signed_before_what_the_log_has(context: Context) -> None:
    context.database.write(log_ahead)

    key = present(context)
    assert key.record.valid_after == AHEAD.replace(microsecond=0)
    assert key.moment() == AHEAD + timedelta(microseconds=1)
    context.database.write(lambda session: retire(session, key.record))
    assert keys(context)[0].valid_before == AHEAD + timedelta(microseconds=1)
    signer = signer_of(keys(context)[0])
    assert (signer.name, signer.namespaces) == (key.record.name, (RECEIPT_NAMESPACE,))


def test_the_first_key_has_the_name_of_the_setting(context: Context) -> None:
    settings = context.settings.model_copy(update={"signer_name": "podium.example.org"})
    assert present(replace(context, settings=settings)).record.name == "podium.example.org"
