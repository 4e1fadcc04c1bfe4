"""Receipts that two servers issue stand in the order of the log, whatever their clocks say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.states import Role
from app.services.auth import Caller
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts import read
from app.services.regrades.apply import apply
from app.services.runtime.context import Context
from app.storage.queries import ids
from tests.services.public_log.test_issue import closed_run
from tests.services.regrades.test_apply import regraded

ADMIN = Caller(Role.ADMIN, "")


def test_the_last_receipt_of_a_run_is_the_last_although_a_slower_clock_named_it(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = closed_run(context)
    # Each server is a process with a latest id of its own; this test has one process for both.
    ahead = datetime.now(UTC) + timedelta(seconds=30)
    monkeypatch.setattr(ids, "_latest", int(ahead.timestamp() * 1_000_000))  # of one server
    first, _ = issue_for_run(context, run.id)
    monkeypatch.setattr(ids, "_latest", 0)  # and of the other
    apply(context, regraded(context, 0.75).id, reason="mended", by=None)

    second, is_new = issue_for_run(context, run.id)

    assert is_new
    assert (second.supersedes, second.id < first.id) == (first.id, True)
    assert [one.id for one in read.of_run(context, ADMIN, run.id)] == [first.id, second.id]
    found, after = [], None
    while True:
        page, after = read.of_experiment(context, run.experiment, kind=None, after=after, limit=1)
        found += [one.id for one in page]
        if after is None:
            break
    assert found == [first.id, second.id]
