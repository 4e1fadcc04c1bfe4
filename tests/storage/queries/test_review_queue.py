"""The queue of runs with signals: a filter chooses runs, and changes nothing said of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.domain.states import ReviewDecision
from app.review.signals import Level, Signal
from app.storage.database.records import RunRecord
from app.storage.queries.reviews import decisions, signals
from app.storage.queries.reviews.decisions import ReviewRecord
from app.storage.queries.reviews.signals import SignalRecord
from tests.storage.make import NOON, World, add_submission, make_submission

HOUR = timedelta(hours=1)
SAMPLE, PROBING = Signal.SAMPLE_SUBMISSION, Signal.PROBING
ACCEPTED = (ReviewDecision.ACCEPT, NOON + 2 * HOUR)
ANY: dict[str, Any] = dict.fromkeys(
    ("is_open", "level", "signal", "experiment", "competition", "before", "limit")
)


def test_a_filter_chooses_runs_and_changes_neither_level_nor_decision(world: World) -> None:
    run, other = world.run, world.other_run

    def see(session: Session, of: RunRecord, signal: Signal, level: Level, hour: int) -> None:
        sent = add_submission(session, make_submission(of))
        new = SignalRecord(
            submission_id=sent.id, run_id=of.id, signal=signal, level=level, other_run=None,
            detail={}, at=NOON + hour * HOUR,
        )  # fmt: skip
        signals.add_all(session, [new])

    def write(session: Session) -> None:
        see(session, run, SAMPLE, Level.ANNOTATE, 0)
        see(session, other, SAMPLE, Level.ANNOTATE, 1)
        for of in (run, other):
            decision, at = ACCEPTED
            new = ReviewRecord(run_id=of.id, decision=decision, reason="x", decided_by=None, at=at)
            decisions.add(session, new)
        see(session, run, PROBING, Level.REVIEW, 3)

    world.database.write(write)
    its, others = (run.id, True, None, None), (other.id, False, *ACCEPTED)

    def found(**given: Any) -> list[tuple[Any, ...]]:
        with world.database.read() as session:
            queue = signals.queue(session, **{**ANY, **given})
            return [(one.run, bool(one.to_review), one.decision, one.decided_at) for one in queue]

    assert found() == found(signal=SAMPLE) == found(level=Level.ANNOTATE) == [its, others]
    assert found(signal=PROBING) == found(level=Level.REVIEW) == [its]
    assert found(signal=SAMPLE, level=Level.REVIEW) == []
    assert found(is_open=True, signal=SAMPLE) == [its]
    assert found(is_open=False, signal=SAMPLE) == [others]
    assert found(experiment=other.experiment) == found(competition=other.competition) == [others]
    with world.database.read() as session:
        (first,) = signals.queue(session, **{**ANY, "limit": 1})
        assert [one.signal for one in signals.of_run(session, run.id)] == [SAMPLE, PROBING]
        (its_own,) = signals.of_runs(session, [other.id])[other.id]
        assert (its_own.run_id, its_own.signal) == (other.id, SAMPLE)
        assert signals.runs_with(session, [run.id, other.id], PROBING) == {run.id}
        assert signals.runs_with(session, [other.id], SAMPLE) == {other.id}
    assert found(before=first.last) == [others]
