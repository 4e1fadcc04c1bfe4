"""Which results may still change, so that nobody keeps them."""

from __future__ import annotations

from sqlalchemy import delete

from app.domain.states import (
    AmendmentKind,
    ArchivalKind,
    ReportedScoreKind,
    ReviewDecision,
    RunState,
    SubmissionState,
)
from app.storage.queries import amendments, archive, runs
from app.storage.queries.amendments import AmendmentRecord
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.elsewhere import imported_grades, reported_scores
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.result_state import result_state, shared_state
from app.storage.queries.reviews import decisions
from app.storage.queries.reviews.decisions import ReviewRecord
from tests.storage.make import NOON, World, add_submission, make_submission


def close(world: World, *run_ids: str) -> None:
    for run_id in run_ids:
        world.database.write(
            lambda session, one=run_id: runs.update_run(
                session, one, state=RunState.CLOSED, closed_at=NOON
            )
        )


def test_a_closed_run_waits_for_the_grades_of_its_own_files(world: World) -> None:
    done = make_submission(world.run, state=SubmissionState.GRADED, settled_at=NOON)
    world.database.write(lambda session: add_submission(session, done))
    with world.database.read() as session:
        both_open = result_state(session)
    assert (both_open.open, both_open.waiting) == ({"first", "second"}, ())

    close(world, world.run.id, world.other_run.id)  # a file of the other one is queued
    with world.database.read() as session:
        closed = result_state(session)

    assert (closed.open, closed.waiting) == ({"second"}, (world.other_run.id,))
    assert closed.experiments["first"].waiting == ()
    assert closed.experiments["second"].waiting == (world.other_run.id,)
    assert closed.experiments != both_open.experiments


def test_what_changes_shared_results_changes_their_state(world: World) -> None:
    """Who keeps results compares this state, and would else go on to show what was before."""
    score = ReportedScoreRecord(
        run_id=world.run.id, kind=ReportedScoreKind.REPORTED, score=0.5, final=True, evidence={},
        reported_at=NOON,
    )  # fmt: skip
    amendment = AmendmentRecord(
        experiment="first", kind=AmendmentKind.AMENDED, before={}, after={}, results=0,
        reason="x", amended_by=None, at=NOON,
    )  # fmt: skip
    put_away = ArchivalRecord(
        kind=ArchivalKind.RUN, name=world.run.id, archived_at=NOON, reason="x"
    )
    review = ReviewRecord(
        run_id=world.run.id, decision=ReviewDecision.EXCLUDE, reason="x", decided_by=None, at=NOON
    )
    changes = [
        lambda session: reported_scores.add(session, score),
        lambda session: amendments.add(session, amendment),
        lambda session: archive.archive(session, put_away),
        lambda session: archive.restore(
            session, put_away.kind, put_away.name, at=NOON, reason="y", by=None
        ),
        lambda session: decisions.add(session, review),
    ]
    seen = []
    for change in (lambda _: None, *changes):
        world.database.write(change)
        with world.database.read() as session:
            seen.append(shared_state(session))
            assert result_state(session).shared == seen[-1]
    assert len(set(seen)) == len(seen)


def test_the_number_of_imported_results_and_the_last_one_are_in_the_state(world: World) -> None:
    def imported(seed: int) -> ImportedGradeRecord:
        return ImportedGradeRecord(
            experiment="first", competition="bikes", seed=seed, made=True, valid=True, score=0.5,
            medal=None, above_median=False, source="x", document={}, imported_at=NOON,
        )  # fmt: skip

    world.database.write(lambda s: imported_grades.add(s, [imported(seed) for seed in (1, 2, 3)]))
    with world.database.read() as session:
        ids = [one.id for one in imported_grades.of_experiment(session, "first")]
    withdrawn = delete(imported_grades.TABLE).where(imported_grades.TABLE.c.id == ids[0])
    world.database.write(lambda s: s.execute(withdrawn))
    with world.database.read() as session:
        assert result_state(session).experiments["first"].imported == (2, ids[-1])
