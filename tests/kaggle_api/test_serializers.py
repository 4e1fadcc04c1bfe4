"""A submission in the form of Kaggle's clients, and the mistakes of a file as one text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.kaggle_api.serializers import refusal, submission
from app.services.submissions.disclose import Disclosed
from app.storage.database.records import SubmissionRecord
from tests.reports.test_agent_guide import run

A, B = {"message": "a"}, {"message": "b"}
RECEIVED = datetime(2026, 5, 1, 12, tzinfo=UTC)


def shown(state: str, file: str | None = None, **over: Any) -> Disclosed:
    record = SubmissionRecord(
        id="sub_00000000000100" + "0" * 12, run_id="run_1", version_id=1, bytes=7, sha256="",
        received_at=RECEIVED, run_seconds=1.0, message="a message", file_name=file,
    )  # fmt: skip
    fields = {"problem": None, "grade": None, "warnings": [], "settled_at": None, **over}
    return Disclosed(submission=record, run=run(), state=state, competition_version=1, **fields)


def test_a_graded_submission_has_the_scores_that_are_shown() -> None:
    found = submission(shown("graded", "a.csv", grade={"public_score": 0.1, "score": None}), "me")
    assert found == {
        "ref": 256, "totalBytes": 7, "date": "2026-05-01T12:00:00+00:00",
        "description": "a message", "errorDescription": "", "fileName": "a.csv",
        "publicScore": "0.1", "privateScore": "", "status": "COMPLETE", "submittedBy": "me",
        "submittedByRef": "me", "teamName": "run_1",
        "url": "/v1/submissions/sub_00000000000100000000000000",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("queued", "PENDING"), ("grading", "PENDING"), ("graded", "COMPLETE"),
        ("rejected", "ERROR"), ("failed", "ERROR"), ("received", "COMPLETE"),
    ],
)  # fmt: skip
def test_each_state_is_one_that_the_clients_know(state: str, status: str) -> None:
    found = submission(shown(state, problem={"detail": "Two rows."}), "me")
    assert (found["status"], found["errorDescription"]) == (status, "Two rows.")
    assert (found["fileName"], found["publicScore"]) == ("submission.csv", "")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ({"detail": "Too long"}, "Too long."),
        ({"violations": [A, B], "violation_count": 2}, "(1) a; (2) b."),
        ({"violations": [A], "violation_count": 3}, "(1) a. And 2 more."),
    ],
)  # fmt: skip
def test_mistakes_are_one_text(problem: dict[str, Any], words: str) -> None:
    assert refusal(shown("rejected", problem=problem)) == (
        f"This is not a valid submission. {words} It does not count against the number of "
        "submissions."
    )
