"""The difference of a regrade has every experiment whose rates change."""

from __future__ import annotations

from datetime import timedelta

from app.domain.states import RunState, SubmissionState
from app.domain.verdict import Verdict
from app.graders.messages.results import Rejected
from app.services.regrades.difference import summary
from app.services.regrades.regrade_claims import RegradeClaims
from app.services.runtime.context import Context
from app.storage.queries import runs
from tests.services.regrades.make import started, stored
from tests.storage.make import NOON, World


def test_a_file_that_failed_and_is_rejected_now_changes_the_rates(
    context: Context, here: World
) -> None:
    here.submit(state=SubmissionState.FAILED, settled_at=NOON + timedelta(seconds=6))
    context.database.write(
        lambda session: runs.update_run(session, here.run.id, state=RunState.CLOSED)
    )
    one = started(context)
    claims = RegradeClaims(context)
    (claimed,) = claims.claim(9, ())
    claims.write(claimed, Rejected(Verdict(())), "m").result()
    context.database.write(lambda session: None)

    found = summary(context, stored(context, one.id))

    assert found["submissions"]["newly_rejected"] == 1
    assert (found["finals_changed"], found["experiments_unchanged"]) == (0, 0)
    (experiment,) = found["experiments"]
    assert experiment["before"]["rates"] is None  # the only result is missing
    assert experiment["after"]["rates"]["made_submission"] == 100.0
