"""Disclosures that two servers enter, or that one enters while the other closes the run."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Role, SubmissionState
from app.services.auth import Caller
from app.services.experiments.runs import change
from app.services.runtime.context import Context
from app.services.submissions import disclose
from app.services.submissions.record_disclosures import record_disclosures
from app.storage.database.records import GradeRecord, RunRecord
from app.storage.queries import exposure
from app.storage.queries.trust import receipts
from tests.services.conftest import Meanwhile
from tests.services.submissions.conftest import readable_version
from tests.storage.make import (
    NOON,
    World,
    add_grade,
    add_run,
    add_submission,
    make_grade,
    make_submission,
)


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_what_is_disclosed_while_a_run_is_closed_is_after_it_or_in_its_receipt(
    servers: tuple[Context, Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = servers
    version = readable_version(one, "tiny")
    run = add_run(one.database, version, "third", feedback=Feedback.FULL)
    sent = make_submission(run, state=SubmissionState.GRADED, settled_at=NOON)
    one.database.write(lambda session: add_submission(session, sent))
    one.database.write(lambda session: add_grade(session, make_grade(sent)))
    enter, closed = exposure.record, list[Future[RunRecord]]()

    def close_then_enter(*given: Any, **options: Any) -> bool:
        if not closed:
            closed.append(
                threads.submit(change, other, run.id, close=True, usage=None, failure=None)
            )
            wait(closed, 0.3)
        return enter(*given, **options)

    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(exposure, "record", close_then_enter)
        disclose.show(one, Caller(Role.RUN, "key", run_id=run.id), sent.id)
        now = closed[0].result(30)

    with one.database.read() as session:
        (receipt,) = receipts.of_run(session, run.id)
        counted = exposure.totals(session, run.id, until=now.closed_at)
    stated = json.loads(receipt.statement)["predicate"]["exposure"]
    assert stated["private_scores"] == counted["private_score"]


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_servers_enter_numbers_in_one_order(
    servers: tuple[Context, Context],
    world: World,
    meanwhile: Meanwhile,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each waited for the other, until PostgreSQL ended one of them after a second."""
    one, other = servers
    sent = [world.submit(state=SubmissionState.GRADED, settled_at=NOON) for _ in range(2)]
    grades = [world.database.write(partial(add_grade, grade=make_grade(each))) for each in sent]

    def enter(context: Context, shown: Sequence[GradeRecord]) -> None:
        record_disclosures(context, world.run, Feedback.FULL, shown, [], "", is_first=True)

    ended = meanwhile(exposure, "record", lambda: enter(other, grades[::-1]))
    with caplog.at_level(logging.WARNING):
        enter(one, grades)
        ended()
    assert not caplog.records
    with one.database.read() as session:
        assert exposure.totals(session, world.run.id)["private_score"] == 2
