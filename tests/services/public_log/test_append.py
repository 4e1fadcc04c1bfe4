"""The public log with several servers, after outages, and with keys that come and go."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import Conflict, NotFound
from app.receipts.allowed_signers import read_allowed_signers, read_revoked
from app.receipts.check import Trust, check_consistency
from app.receipts.checkpoints import read_checkpoint
from app.receipts.errors import BadProof
from app.services.public_log.append import append_log_entry
from app.services.receipts import keys, log_view
from app.services.receipts.check_database import check_trust
from app.services.runtime.context import Context, open_context
from app.settings import Settings
from app.storage.database.dump import SIGNING_KEY
from app.storage.queries.operation import secrets


def opened(tmp_path: Path, url: str, **more) -> Context:
    settings = Settings(data_dir=tmp_path / "data", database_url=url, **more)
    return open_context(settings, grades=False, validates=False)


@pytest.fixture
def context(database_url: str, tmp_path: Path) -> Iterator[Context]:
    found = opened(tmp_path, database_url)
    yield found
    found.close()


def append(context: Context, kind: str = "amendment", **body) -> int:
    return context.database.write(
        lambda session: append_log_entry(context, session, kind, body)
    ).number


def problems(context: Context) -> list[tuple[str, str]]:
    with context.database.read() as session:
        return list(check_trust(session))


def trust(context: Context) -> Trust:
    return Trust(
        read_allowed_signers(log_view.allowed(context)), read_revoked(log_view.revoked(context))
    )


def test_an_empty_log_has_no_checkpoint_and_no_key(context):
    with pytest.raises(NotFound, match="no entry yet"):
        log_view.checkpoint(context)
    assert (log_view.allowed(context), log_view.entries(context, 0, 10)) == ("", [])
    assert problems(context) == []


def test_two_servers_and_many_threads_make_one_log(context, database_url, tmp_path):
    other = opened(tmp_path / "other", database_url)

    def work(own: Context) -> None:
        for number in range(15):
            append(own, value=number)

    threads = [threading.Thread(target=work, args=(own,)) for own in (context, other) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()

    entries = log_view.entries(context, 0, 1000)
    assert [one.number for one in entries] == list(range(61))  # the first is the key's
    assert [one.kind for one in entries] == ["key"] + ["amendment"] * 60
    assert len(log_view.keys(context)) == 1
    assert problems(context) == []


def test_an_entry_that_is_undone_leaves_no_trace(context):
    append(context)

    def fail(session):
        append_log_entry(context, session, "amendment", {})
        raise Conflict("no")

    with pytest.raises(Conflict):
        context.database.write(fail)
    assert append(context) == 2
    assert problems(context) == []


def test_the_same_body_twice_has_two_digests(context):
    first, second = append(context, a=1), append(context, a=1)
    leaves = [json.loads(log_view.entry(context, number).leaf) for number in (first, second)]
    assert leaves[0]["sha256"] != leaves[1]["sha256"]


def test_every_older_checkpoint_is_consistent_with_every_later_one(context):
    for _ in range(9):
        append(context)
    keys.rotate(context)
    trusted = trust(context)
    size = read_checkpoint(log_view.checkpoint(context).note, trusted.signers, ()).size
    for first in range(1, size + 1):
        for second in range(first, size + 1):
            found = log_view.consistency(context, first, second)
            proof = {"proof": found.proof, "checkpoint": found.checkpoint.note}
            older = log_view.checkpoint(context, first).note
            assert check_consistency(proof, older, trusted).size == second


def test_a_rotated_key_signs_no_more_and_what_it_signed_stays_good(context):
    append(context)
    [old] = log_view.keys(context)

    new = keys.rotate(context)

    append(context)
    retired, present = log_view.keys(context)
    assert (retired.id, present.id) == (old.id, new.id)
    assert retired.valid_before is not None
    assert retired.name == present.name
    assert log_view.checkpoint(context).key_id == new.id
    acts = [one.number for one in log_view.entries(context, 0, 9) if one.kind == "key"]
    kinds = [json.loads(log_view.entry(context, number).record)["act"] for number in acts]
    assert kinds == ["made", "made", "retired"]
    assert problems(context) == []


def test_a_revoked_key_is_refused_and_another_one_signs(context):
    append(context)
    [old] = log_view.keys(context)
    before = log_view.checkpoint(context)

    keys.revoke(context, old.id, "stolen")

    assert log_view.checkpoint(context).key_id != old.id
    trusted = trust(context)
    with pytest.raises(BadProof):
        read_checkpoint(before.note, trusted.signers, trusted.revoked)
    # Who kept the older checkpoint can still compare.
    found = log_view.consistency(context, before.size, None)
    proof = {"proof": found.proof, "checkpoint": found.checkpoint.note}
    assert check_consistency(proof, before.note, trusted).size > before.size
    for key_id, error in ((old.id, Conflict), ("sig_none", NotFound)):
        with pytest.raises(error):
            keys.revoke(context, key_id, "again")
    assert problems(context) == []


def test_a_key_whose_private_part_is_gone_is_replaced(context):
    append(context)
    [old] = log_view.keys(context)
    name = f"{SIGNING_KEY}{old.id}"
    context.database.write(
        lambda session: session.execute(secrets.TABLE.delete().where(secrets.TABLE.c.name == name))
    )

    append(context)

    first, second = log_view.keys(context)
    assert first.valid_before is not None
    assert second.valid_before is None
    assert problems(context) == []


def test_the_name_of_the_signer_is_set_once(context, database_url, tmp_path):
    named = opened(tmp_path / "named", database_url, signer_name="podium.example")
    append(named)
    assert [one.name for one in log_view.keys(named)] == ["podium.example"]
    named.close()
    keys.rotate(context)
    assert {one.name for one in log_view.keys(context)} == {"podium.example"}


def test_regrades_and_acts_of_other_kinds_are_logged_alike(context):
    number = append(context, "regrade", competition="a", by=None)
    entry = log_view.entry(context, number)
    assert entry.kind == "regrade"
    assert json.loads(entry.record or "")["competition"] == "a"
