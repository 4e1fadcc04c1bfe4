"""Which receipts a key reads: those that say no more than it may know."""

from __future__ import annotations

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Role
from app.errors import NotFound
from app.services.auth import Caller
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts import read
from app.services.regrades.apply import apply
from app.services.runtime.context import Context
from tests.services.public_log.test_issue import closed_run
from tests.services.regrades.test_apply import regraded


def test_keys_of_runs_and_harnesses_never_learn_of_a_regrade(context: Context) -> None:
    run = closed_run(context, feedback=Feedback.FULL)
    first, _ = issue_for_run(context, run.id)
    apply(context, regraded(context, 0.75).id, reason="mended", by=None)
    second, is_new = issue_for_run(context, run.id)
    assert is_new

    for caller in (
        Caller(Role.RUN, "key_1", run_id=run.id),
        Caller(Role.HARNESS, "key_2", experiment=run.experiment),
    ):
        assert [one.id for one in read.of_run(context, caller, run.id)] == [first.id]
        with pytest.raises(NotFound, match="for this key"):
            read.find(context, caller, second.id)
    researcher = Caller(Role.RESEARCHER, "key_3")
    found = read.of_run(context, researcher, run.id)
    assert [one.id for one in found] == [first.id, second.id]
