"""Regrades in a real database, without graders."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.domain.states import SubmissionState
from app.grading.graded import Graded
from app.services.regrades.add_submissions import add_submissions
from app.services.runtime.context import Context
from app.services.runtime.environment import this_environment
from app.storage.database.records import SubmissionRecord
from app.storage.queries.ids import new_id
from app.storage.queries.regrades import outcomes, regrades
from app.storage.queries.regrades.outcomes import OutcomeRecord
from app.storage.queries.regrades.regrades import RegradeRecord
from tests.storage.make import NOON, World, add_grade, make_grade


def graded(here: World, score: float = 0.5) -> SubmissionRecord:
    """A graded submission of the run."""
    sent = here.submit(state=SubmissionState.GRADED, settled_at=NOON + timedelta(seconds=6))
    here.database.write(lambda session: add_grade(session, make_grade(sent, score=score)))
    return sent


def started(context: Context, **over: Any) -> RegradeRecord:
    """A regrade of `bikes` that has all its settled submissions."""
    own = this_environment()
    fields: dict[str, Any] = {
        "id": new_id(regrades.PREFIX), "competition": "bikes", "version_id": None,
        "podium_version": own.podium_version, "environment": own.environment,
        "created_by": None, "created_at": NOON,
    }  # fmt: skip
    new = RegradeRecord(**{**fields, **over})
    context.database.write(lambda session: regrades.add(session, new))
    context.database.write(lambda session: add_submissions(session, new, queues=False))
    return new


def stored(context: Context, regrade_id: str) -> RegradeRecord:
    """The regrade as it is now."""
    with context.database.read() as session:
        found = regrades.get(session, regrade_id)
    assert found is not None
    return found


def outcome(context: Context, regrade_id: str, submission_id: str) -> OutcomeRecord | None:
    """What the regrade gave for a submission; None while it is queued."""
    with context.database.read() as session:
        found = outcomes.given_by(session, regrade_id, submission_id)
    return None if found is None else found[2]


def new_grade(score: float) -> Graded:
    """What a grader gives."""
    return Graded(score=score, public_score=None, standing=None, warnings=())
