"""Which runs and imported results count, now and at a time; very many are read in parts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.domain.states import (
    AmendmentKind,
    ArchivalKind,
    ReportedScoreKind,
    RunState,
    SubmissionState,
)
from app.storage.queries import amendments, archive, results, runs
from app.storage.queries.amendments import AmendmentRecord
from app.storage.queries.archive import ArchivalRecord
from app.storage.queries.elsewhere import imported_grades, reported_scores
from app.storage.queries.elsewhere.imported_grades import ImportedGradeRecord
from app.storage.queries.elsewhere.reported_scores import ReportedScoreRecord
from app.storage.queries.regrades.in_force import Basis
from tests.storage.make import (
    NOON,
    World,
    add_grade,
    add_run,
    add_submission,
    make_grade,
    make_submission,
)
from tests.storage.statements import sqlite_plan

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_results_are_read_in_parts(world: World) -> None:
    """PostgreSQL's driver read all rows at once: 240,000 runs took 150 MB more."""
    for seed in range(2, 9):
        add_run(world.database, world.version, "many", seed=seed)
    with world.database.read() as session:
        found = results.run_results(session, experiments=["many"])
        seeds = [next(found).seed]
        cursors = session.scalar(text("SELECT count(*) FROM pg_cursors"))
        seeds += [run.seed for run in found]
    assert (cursors, sorted(seeds)) == (1, [*range(2, 9)])


def put_away(world: World, kind: ArchivalKind, name: str, at: datetime = NOON) -> None:
    record = ArchivalRecord(kind=kind, name=name, archived_at=at, reason="old")
    world.database.write(lambda session: archive.archive(session, record))


def test_a_named_run_has_its_result_although_it_is_archived(world: World) -> None:
    put_away(world, ArchivalKind.RUN, world.run.id)
    with world.database.read() as session:
        assert [one.run for one in results.run_results(session)] == [world.other_run.id]
        named = [one.run for one in results.run_results(session, run=world.run.id)]
        assert named == [world.run.id]


def test_a_run_of_a_time_has_what_had_come_and_was_settled_until_then(world: World) -> None:
    def hour(number: float) -> datetime:
        return NOON + number * HOUR

    files = [
        world.submit(state=state, received_at=hour(received), settled_at=hour(settled))
        for state, received, settled in (
            (SubmissionState.GRADED, 1, 1),
            (SubmissionState.GRADED, 2, 3),
            (SubmissionState.FAILED, 4, 4),
        )
    ]
    ended = {
        "started_at": hour(1), "selected_id": files[1].id, "state": RunState.CLOSED,
        "closed_at": hour(4), "failure": "crash",
    }  # fmt: skip
    reported = ReportedScoreRecord(
        run_id=world.run.id, kind=ReportedScoreKind.REPORTED, score=0.1, final=True, evidence={},
        reported_at=hour(2),
    )  # fmt: skip

    def write(session: Session) -> None:
        for number, one in enumerate(files[:2]):
            add_grade(session, make_grade(one, score=float(number)))
        runs.update_run(session, world.run.id, **ended)
        reported_scores.add(session, reported)

    world.database.write(write)

    def then(number: float) -> list[tuple[Any, ...]]:
        with world.database.read() as session:
            basis = Basis(as_of=hour(number))
            found = results.run_results(session, competition="bikes", basis=basis)
            return [
                (one.state, one.failure, one.started_at, one.closed_at, one.sent, one.waiting,
                 one.failed, one.final, one.score, one.reported)
                for one in found
            ]  # fmt: skip

    first, chosen = files[0].id, files[1].id
    beginning = (RunState.OPEN, None, hour(1), None)
    assert then(-1) == []
    assert then(0) == [(RunState.OPEN, None, None, None, 0, 0, 0, None, None, 0)]
    assert then(1) == [(*beginning, 1, 0, 0, first, 0.0, 0)]
    assert then(2) == [(*beginning, 2, 1, 0, chosen, None, 1)]  # it is being graded
    assert then(3) == [(*beginning, 2, 0, 0, chosen, 1.0, 1)]
    assert then(4) == [(RunState.CLOSED, "crash", hour(1), hour(4), 3, 0, 1, chosen, 1.0, 1)]


def test_graded_submissions_are_those_of_one_experiment_or_run_in_order(world: World) -> None:
    second = add_run(world.database, world.version, "first", seed=2, usage={"seconds": 7.0})
    sent = []
    for hour, run in enumerate((second, world.run, world.other_run, second)):
        at = NOON + hour * HOUR
        one = make_submission(
            run,
            state=SubmissionState.GRADED,
            received_at=at,
            settled_at=at,
            run_seconds=float(hour),
        )
        world.database.write(lambda session, one=one: add_submission(session, one))
        world.database.write(lambda session, one=one: add_grade(session, make_grade(one)))
        sent.append(one.id)
    world.submit()  # is not graded

    def found(**given: Any) -> list[str]:
        with world.database.read() as session:
            return [one.id for one in results.graded_submissions(session, "first", **given)]

    assert found() == [sent[1], sent[0], sent[3]]  # by run, then oldest first
    assert found(run=second.id) == [sent[0], sent[3]]
    assert found(basis=Basis(as_of=NOON + HOUR)) == [sent[1], sent[0]]
    with world.database.read() as session:
        usages = results.usages(session, "first")
    assert usages == {world.run.id: {}, second.id: {"seconds": 7.0}}


def test_imported_results_of_a_time_were_imported_and_not_archived_until_then(
    world: World,
) -> None:
    def write(session: Session) -> None:
        keys = (("first", "bikes"), ("first", "leaves"), ("second", "bikes"))
        for hour, (experiment, competition) in enumerate(keys):
            one = ImportedGradeRecord(
                experiment=experiment, competition=competition, seed=3, made=True, valid=True,
                score=0.5, medal=None, above_median=False, source="x", document={},
                imported_at=NOON + hour * HOUR,
            )  # fmt: skip
            imported_grades.add(session, [one])
        (gone,) = amendments.withdraw_imported(session, "first", competition="bikes", seed=None)
        before = {"results": [{**asdict(gone), "imported_at": gone.imported_at.isoformat()}]}
        amendments.add(session, AmendmentRecord(
            experiment="first", kind=AmendmentKind.WITHDRAWN, before=before, after=None, results=1,
            reason="wrong", amended_by=None, at=NOON + 5 * HOUR,
        ))  # fmt: skip

    world.database.write(write)

    def found(hour: int | None, *experiments: str, **given: Any) -> list[str]:
        """The results by both ways of reading them."""
        as_of = None if hour is None else NOON + hour * HOUR
        names = {"experiments": experiments or None, "as_of": as_of}
        with world.database.read() as session:
            full = results.imported_results(session, **names, **given)
            listed = sorted(f"{one.experiment} {one.competition}" for one in full)
            if "competition" not in given:
                brief = results.imported_outcomes(session, **{"archived": False, **names, **given})
                assert sorted(f"{one[0]} {one[1]}" for one in brief) == listed
        return listed

    assert found(None) == found(5) == ["first leaves", "second bikes"]
    assert found(0) == ["first bikes"]
    assert found(1) == found(4, "first") == ["first bikes", "first leaves"]
    assert found(4, "second") == ["second bikes"]
    assert found(4, competition="leaves") == ["first leaves"]
    put_away(world, ArchivalKind.COMPETITION, "bikes", NOON + 3 * HOUR)
    put_away(world, ArchivalKind.EXPERIMENT, "first", NOON + 4 * HOUR)
    assert found(2) == found(4, archived=True) == ["first bikes", "first leaves", "second bikes"]
    assert found(3) == found(4, "first") == ["first leaves"]
    assert found(4) == []
    assert found(None, competition="bikes") == ["second bikes"]


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_the_graded_files_of_an_experiment_are_found_by_its_runs(world: World) -> None:
    """Those of all experiments were read, for each experiment of a board."""
    plan = sqlite_plan(
        world.database, lambda s: list(results.graded_submissions(s, "first")), statements=2
    )
    assert [step.split(" ")[1] for step in plan[:2]] == ["run", "submission"]
    assert "ix_submission_run_id_id (run_id=?)" in plan[1]
