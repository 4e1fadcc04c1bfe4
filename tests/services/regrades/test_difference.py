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
from app.storage.queries.regrades import outcomes
from app.storage.queries.regrades.outcomes import OutcomeRecord
from tests.services.regrades.make import started, stored
from tests.storage.make import NOON, World, add_grade, make_grade


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


def test_a_medal_that_was_won_or_lost_is_counted_as_such(context: Context, here: World) -> None:
    changes = [
        (None, "bronze"), ("bronze", "silver"), ("silver", "gold"), ("gold", None), ("gold", "gold")
    ]  # fmt: skip
    settled_at = NOON + timedelta(seconds=6)
    sent = [here.submit(state=SubmissionState.GRADED, settled_at=settled_at) for _ in changes]
    for one, (before, _) in zip(sent, changes, strict=True):
        grade = make_grade(one, score=0.5, medal=before)
        context.database.write(lambda session, grade=grade: add_grade(session, grade))
    regrade = started(context)
    for one, (_, after) in zip(sent, changes, strict=True):
        new = OutcomeRecord(
            state=SubmissionState.GRADED, score=0.5, medal=after, graded_at=settled_at
        )
        context.database.write(
            lambda session, one=one, new=new: outcomes.settle(session, regrade.id, one.id, new)
        )

    found = summary(context, stored(context, regrade.id))["submissions"]

    assert (found["medals"], found["medals_won"], found["medals_lost"]) == (4, 3, 1)
    assert (found["equal"], found["scores"], found["newly_graded"]) == (1, 0, 0)
