"""What a regrade changes: how many submissions, in what, and which."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.states import SubmissionState
from app.storage.database.tables.regrades import RegradeOutcome
from app.storage.queries.regrades import regrades
from app.storage.queries.regrades.differences import count_differences, differences
from app.storage.queries.regrades.regrades import RegradeRecord
from tests.storage.make import NOON, World, add_grade, make_grade

GRADED, REJECTED, FAILED = (
    SubmissionState.GRADED, SubmissionState.REJECTED, SubmissionState.FAILED,
)  # fmt: skip
NUMBERS = {"score": 0.5, "public_score": 0.4, "search_score": 0.3, "better": 1, "equal": 0,
           "worse": 2, "teams": 3, "percentile": 66.0, "above_median": True}  # fmt: skip
# The state and what is special in its grade, before and after.
CASES: dict[str, tuple[SubmissionState, dict[str, Any], SubmissionState, dict[str, Any]]] = {
    "equal": (GRADED, {}, GRADED, {}),
    "won": (GRADED, {"medal": "bronze"}, GRADED, {"medal": "gold", "score": 0.6, "better": 0}),
    "lost": (GRADED, {"medal": "gold"}, GRADED, {"public_score": 0.1}),
    "newly graded": (REJECTED, {}, GRADED, {"medal": "silver"}),
    "newly rejected": (GRADED, {"medal": "bronze"}, REJECTED, {}),
    "newly failed": (GRADED, {}, FAILED, {}),
    "rejected, no failure": (FAILED, {}, REJECTED, {}),
    "failed, not rejected": (REJECTED, {}, FAILED, {}),
    "still rejected": (REJECTED, {}, REJECTED, {}),
    "still failed": (FAILED, {}, FAILED, {}),
    "queued": (GRADED, {}, SubmissionState.QUEUED, {}),
    "teams": (GRADED, {}, GRADED, {"teams": 4}),
    "search": (GRADED, {}, GRADED, {"search_score": 0.2}),
    "median": (GRADED, {}, GRADED, {"above_median": False}),
}
SAME = ("equal", "still rejected", "still failed", "queued")
DIFFERENT = [name for name in CASES if name not in SAME]


def test_differences_are_counted_by_what_differs_and_listed(world: World) -> None:
    sent = {name: world.submit(state=case[0], settled_at=NOON) for name, case in CASES.items()}
    names = {one.id: name for name, one in sent.items()}

    def outcome(regrade: str, name: str, state: SubmissionState, **over: Any) -> dict[str, Any]:
        numbers = {**NUMBERS, "medal": None, **over} if state is GRADED else {}
        return {**dict.fromkeys([*NUMBERS, "medal"]), **numbers, "state": state, "attempts": 1,
                "regrade_id": regrade, "submission_id": sent[name].id, "graded_at": NOON,
                "version_id": world.version.id}  # fmt: skip

    def write(session: Session) -> None:
        for name in ("r1", "r2"):
            regrades.add(session, RegradeRecord(
                id=name, competition="bikes", version_id=None, podium_version="1",
                environment="e", created_by=None, created_at=NOON,
            ))  # fmt: skip
        for name, (before, numbers, _, _) in CASES.items():
            if before is GRADED:
                add_grade(session, make_grade(sent[name], **{**NUMBERS, **numbers}))
        rows = [outcome("r2", name, after, **more) for name, (_, _, after, more) in CASES.items()]
        rows.append(outcome("r1", "equal", GRADED, score=0.9))
        session.execute(insert(RegradeOutcome.__table__), rows)

    world.database.write(write)
    with world.database.read() as session:
        counts = count_differences(session, "r2", None)
        since = count_differences(session, "r2", "r1")

        def listed(after: str | None, limit: int) -> list[str]:
            found = differences(session, "r2", None, after=after, limit=limit)
            return [names[one.submission] for one in found]

        assert listed(None, 20) == DIFFERENT
        assert listed(sent[DIFFERENT[0]].id, 2) == DIFFERENT[1:3]
        (won, *_) = differences(session, "r2", None, after=None, limit=1)
    assert (counts.submissions, counts.equal, counts.scores, counts.public_scores) == (13, 3, 1, 1)
    assert (counts.places, counts.medals, counts.medals_won, counts.medals_lost) == (2, 4, 2, 2)
    assert (counts.newly_graded, counts.newly_rejected, counts.newly_failed) == (1, 2, 2)
    assert (since.equal, since.scores) == (2, 2)
    assert (won.run, won.experiment, won.seed) == (world.run.id, "first", world.run.seed)
    assert (won.before["score"], won.after["score"], won.after["medal"]) == (0.5, 0.6, "gold")
