"""A page of a run's submissions, and its newest file with the best score that its key may see."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.feedback import Feedback
from app.domain.states import Role, SubmissionState
from app.services.auth import Caller
from app.services.runtime.context import Context
from app.services.submissions.run_submissions import first_from, newest_and_best, submission_page
from app.storage.database.records import RunRecord, SubmissionRecord
from tests.services.submissions.conftest import readable_version
from tests.storage.make import (
    NOON,
    add_grade,
    add_run,
    add_submission,
    make_grade,
    make_submission,
)
from tests.storage.statements import sent_statements

RESEARCHER = Caller(Role.RESEARCHER, "key")


def graded(context: Context, run: RunRecord, *scores: float) -> list[SubmissionRecord]:
    """Store graded submissions, a minute apart; their public score is the tenth of the score."""
    sent = []
    for minute, score in enumerate(scores, start=1):
        at = NOON + timedelta(minutes=minute)
        submission = make_submission(
            run, state=SubmissionState.GRADED, received_at=at, settled_at=at
        )
        context.database.write(lambda session, one=submission: add_submission(session, one))
        row = make_grade(submission, score=score, public_score=score / 10)
        context.database.write(lambda session, one=row: add_grade(session, one))
        sent.append(submission)
    return sorted(sent, key=lambda one: one.id)


def test_a_page_knows_its_place_and_the_final_submission(context: Context, run: RunRecord) -> None:
    sent = graded(context, run, 3.0, 1.0, 2.0)

    first = submission_page(context, RESEARCHER, run, None, 2)
    second = submission_page(context, RESEARCHER, run, first.next_cursor, 2)

    shown = [each.submission.id for page in (first, second) for each in page.found]
    assert shown == [one.id for one in sent]
    assert (first.before, second.before, first.total, second.total) == (0, 2, 3, 3)
    last = max(sent, key=lambda one: one.received_at)
    assert (first.final, second.final, second.next_cursor) == (last.id, last.id, None)


def test_what_a_run_reads_is_read_once(context: Context) -> None:
    run = add_run(
        context.database, readable_version(context, "bikes"), "first", feedback=Feedback.PUBLIC
    )
    sent = graded(context, run, 2.0, 2.0)
    own = Caller(Role.RUN, "key", run_id=run.id)
    submission_page(context, own, run, None, 2)  # what the process keeps is read before

    with sent_statements() as statements:
        page = submission_page(context, own, run, None, 2)

    assert [one.submission.id for one in page.found] == [one.id for one in sent]
    assert [one.grade and one.grade["public_score"] for one in page.found] == [0.2, 0.2]
    assert sum("submission.message" in one for one in statements) == 1


def test_a_submission_is_found_by_the_start_of_its_id(context: Context, run: RunRecord) -> None:
    (sent,) = graded(context, run, 1.0)

    found = first_from(context, RESEARCHER, run, sent.id[:-3])

    assert found is not None
    assert found.submission.id == sent.id
    assert first_from(context, RESEARCHER, run, sent.id[:-1] + "~") is None
    assert first_from(context, RESEARCHER, run, "sub_" + "z" * 26) is None


@pytest.mark.parametrize(
    ("feedback", "best"),
    [
        (Feedback.NONE, None),
        (Feedback.VALIDITY, None),
        (Feedback.PUBLIC, 0.1),
        (Feedback.FULL, 0.1),
    ],
)
def test_the_best_score_is_one_that_the_runs_key_may_see(
    context: Context, feedback: Feedback, best: float | None
) -> None:
    run = add_run(context.database, readable_version(context, "bikes"), "first", feedback=feedback)
    own = Caller(Role.RUN, "key", run_id=run.id)
    assert newest_and_best(context, own, run, "public_score", higher_is_better=False) is None
    sent = graded(context, run, 3.0, 1.0, 2.0)

    found = newest_and_best(context, own, run, "public_score", higher_is_better=False)

    assert found == (max(one.received_at for one in sent), best)
