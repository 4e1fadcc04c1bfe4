"""A receipt states what is true when it is signed, not what was read before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.states import RunState, SubmissionState
from app.receipts.statements import Facts, read_statement
from app.services.public_log import run_receipts
from app.services.public_log.run_receipts import issue_for_run, run_facts
from app.services.regrades.apply import apply
from app.services.runtime.context import Context
from app.storage.database.records import RunRecord
from tests.services.regrades.test_apply import regraded
from tests.services.submissions.test_run_events import TOML
from tests.storage.make import (
    NOON,
    add_grade,
    add_run,
    add_submission,
    add_version,
    make_grade,
    make_submission,
)


def closed_run(context: Context, **over: Any) -> RunRecord:
    """A closed run with a submission whose score is 0.5."""
    version = context.database.write(lambda session: add_version(session, "bikes", toml=TOML))
    run = add_run(
        context.database,
        version,
        "first",
        **{"state": RunState.CLOSED, "closed_at": datetime.now(UTC), **over},
    )
    sent = make_submission(run, state=SubmissionState.GRADED, settled_at=NOON)
    context.database.write(lambda session: add_submission(session, sent))
    context.database.write(lambda session: add_grade(session, make_grade(sent, score=0.5)))
    return run


def test_a_regrade_that_is_applied_while_facts_are_read_is_in_the_receipt(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = closed_run(context)
    regrade = regraded(context, 0.75)
    reads = 0

    def read_slowly(*given: object) -> tuple[Facts, str | None]:
        nonlocal reads
        facts = run_facts(*given)  # type: ignore[arg-type]
        reads += 1
        if reads == 1:
            apply(context, regrade.id, reason="mended", by=None)
        return facts

    monkeypatch.setattr(run_receipts, "run_facts", read_slowly)
    receipt, is_new = issue_for_run(context, run.id)

    stated = read_statement(receipt.data)["predicate"]
    assert (is_new, stated["score"], stated.get("regrade")) == (True, "0.75", regrade.id)
    assert reads == 2
