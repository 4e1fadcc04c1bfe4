"""Which receipts a key reads: those that say no more than it may know."""

from __future__ import annotations

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Role
from app.errors import Invalid, NotFound
from app.services.auth import Caller
from app.services.public_log.run_receipts import issue_for_run
from app.services.receipts import read
from app.services.regrades.apply import apply
from app.services.runtime.context import Context
from app.storage.queries import experiments
from tests.services.public_log.test_issue import closed_run
from tests.services.regrades.test_apply import regraded
from tests.storage.make import make_experiment


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


def test_a_cursor_that_is_not_of_the_list_is_refused(context: Context) -> None:
    """An unknown one gave an empty page, as if it were the last."""
    run = closed_run(context)
    receipt, _ = issue_for_run(context, run.id)
    context.database.write(lambda session: experiments.add(session, make_experiment("another")))

    def page(name: str, after: str) -> object:
        return read.of_experiment(context, name, kind=None, after=after, limit=5)

    assert page(run.experiment, receipt.id) == ([], None)
    for name, after in ((run.experiment, "rcp_nothing"), ("another", receipt.id)):
        with pytest.raises(Invalid, match="next_cursor of a page of this list"):
            page(name, after)
